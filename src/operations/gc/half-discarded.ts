/** What an interrupted discard has left: finished by the discard procedure, never deleted file by file. */
import { asError, CkptError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Area } from '../area/area.js';
import { planDiscard } from '../discard/plan.js';
import { isStatus, resolveTargets, tombstoneOf } from '../discard/targets.js';
import type { DiscardPlan } from '../discard/types.js';
import { type AgeRule, isYoung } from './ages.js';
import type { Grounds } from './named-directories.js';
import { namesOf, placeOf } from './places.js';
import type { Snapshot } from './snapshot.js';
import { GcEntry, type GcKind, type SparedPath } from './types.js';
import { isTombstone } from './users.js';

/** Discards that are to be finished. */
export interface PendingDiscards {
  /** Undefined if there are none. */
  readonly plan: DiscardPlan | undefined;
  /** The files that go with them. */
  readonly entries: readonly GcEntry[];
  readonly spared: readonly SparedPath[];
  readonly warnings: readonly string[];
}

/** Options of {@link planPendingDiscards}. */
export interface PendingDiscardOptions extends AgeRule {
  readonly aliases?: readonly (readonly string[])[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Plans what is left to do for every tombstone below the roots. Nothing outside the roots goes, however much of a checkpoint
 * is there.
 * @throws the signal's reason; I/O errors
 */
export async function planPendingDiscards(
  fileSystems: FileSystems,
  snapshot: Snapshot,
  grounds: Grounds,
  options: PendingDiscardOptions,
): Promise<PendingDiscards> {
  const spared: SparedPath[] = [];
  const pointers: string[] = [];
  for (const tombstone of tombstonesIn(snapshot, grounds.roots)) {
    const directory = tombstone.parent ?? tombstone;
    const [status] = await (await fileSystems.get(directory)).getFileStatuses(directory, [tombstone.name]);
    if (!isStatus(status)) continue;
    if (isYoung(status.newestTime, options)) spared.push({ path: tombstone.toString(), reason: 'young' });
    else pointers.push(tombstone.toString());
  }
  if (pointers.length === 0) return { plan: undefined, entries: [], spared, warnings: [] };
  try {
    const targets = await resolveTargets(fileSystems, pointers, {
      roots: [...grounds.roots.roots, ...grounds.readOnly.roots],
      aliases: options.aliases,
      signal: options.signal,
    });
    const { now, minAge, signal } = options;
    const whole = await planDiscard(fileSystems, targets, { minAge, now: now(), signal });
    for (const { given } of whole.failed) spared.push({ path: given, reason: 'half-discarded' });
    const plan = onlyBelow(whole, grounds.roots);
    return { plan, entries: entriesOf(plan, grounds.roots), spared, warnings: [] };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!(error instanceof CkptError)) throw error;
    for (const path of pointers) spared.push({ path, reason: 'half-discarded' });
    return {
      plan: undefined,
      entries: [],
      spared,
      warnings: [`half-discarded checkpoints stay: ${asError(error).message}`],
    };
  }
}

/** Tombstones beside which the metadata they were is not there any more. */
function tombstonesIn(snapshot: Snapshot, roots: Area): Path[] {
  const found: Path[] = [];
  for (const { directory, users } of snapshot.reports.values()) {
    if (!roots.contains(directory)) continue;
    const paths = users.map(({ metadataPath }) => metadataPath);
    for (const path of paths) {
      if (!isTombstone(path.name)) continue;
      const isComplete = paths.some((other) => !isTombstone(other.name) && tombstoneOf(other).equals(path));
      if (!isComplete) found.push(path);
    }
  }
  return found;
}

/** Places that are only read were searched for others who use the files, but nothing in them goes. */
function onlyBelow(plan: DiscardPlan, roots: Area): DiscardPlan {
  return {
    ...plan,
    directories: plan.directories.filter(({ directory }) => roots.contains(directory)),
    managedDirectories: plan.managedDirectories.filter(({ directory }) => roots.contains(directory)),
  };
}

function entriesOf(plan: DiscardPlan, roots: Area): GcEntry[] {
  const entries: GcEntry[] = [];
  for (const { target, metadata } of plan.targets) {
    if (!metadata) continue;
    const { directory, tombstonePath } = target;
    entries.push(new GcEntry(directory, tombstonePath.name, metadata.bytes, 'tombstone', metadata.modificationTime));
  }
  for (const { directory, files } of plan.directories) {
    const kind = kindIn(directory, roots);
    for (const { name, bytes, modificationTime } of files) {
      entries.push(new GcEntry(directory, name, bytes, kind, modificationTime));
    }
  }
  return entries;
}

function kindIn(directory: Path, { roots }: Area): GcKind {
  const root = roots.find((candidate) => directory.startsWith(candidate));
  const { kind } = placeOf(directory, namesOf(root?.path ?? '').length);
  switch (kind) {
    case 'shared':
    case 'working':
      return 'shared';
    case 'changelog':
    case 'flat-changelog':
      return 'changelog';
    case 'managed':
      return 'managed-directory';
    default:
      return 'exclusive';
  }
}
