/** Which checkpoints are beyond what is to be kept: the choice alone, the rest is a discard like any other. */
import { CkptError } from '../errors.js';
import type { Path } from '../filesystem/path.js';
import { Path as FlinkPath } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { outermost } from './area/scan.js';
import { readLock } from './discard/lock.js';
import { defaultRoot } from './discard/targets.js';
import { checkpointNumber, savepointJobIdPrefix } from './layout.js';
import type { ListEntry, ListResult } from './list/entry.js';

/** What is to be kept. At least one of `keep` and `olderThan` must be given; what either keeps stays. */
export interface Retention {
  /** The newest so many of each job, by checkpoint id. */
  readonly keep?: number | undefined;
  /** Milliseconds: what was written since stays. */
  readonly olderThan?: number | undefined;
  /** `checkpoints`: directories `chk-<n>`, by the directory they lie in. `savepoints`: by that and the prefix of the job id. */
  readonly of: 'checkpoints' | 'savepoints';
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `may-go` only for `keep: 0`: otherwise the newest complete one of each job stays whatever was asked for. */
  readonly newest?: 'stays' | 'may-go' | undefined;
}

/** Why a checkpoint stays. */
export type RetainReason = 'newest' | 'keep' | 'younger';

/** One that stays. */
export interface RetainedCheckpoint {
  readonly pointer: string;
  readonly reason: RetainReason;
}

/** What is chosen of one job. */
export interface PruneGroup {
  /** Where they lie. */
  readonly directory: string;
  readonly jobId: string | null;
  readonly jobIdPrefix: string | null;
  /** Pointers of those that go, the oldest first. */
  readonly discard: readonly string[];
  /** Those of an earlier discard that was interrupted: they are finished, whatever is to be kept. */
  readonly unfinished: readonly string[];
  /** The oldest first. */
  readonly retained: readonly RetainedCheckpoint[];
}

/**
 * Chooses among listed checkpoints. Only complete ones are counted and only they go; directories of other names, and of other
 * kinds, are left alone.
 */
export function selectForPrune(entries: readonly ListEntry[], retention: Retention): PruneGroup[] {
  const groups = new Map<string, ListEntry[]>();
  for (const entry of entries) {
    if (!isOfKind(entry, retention)) continue;
    const key = `${entry.jobIdPrefix ?? ''} ${parentOf(entry.pointer)}`;
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups.values()].map((members) => selectOfGroup(members, retention));
}

function isOfKind({ pointer, status }: ListEntry, { of }: Retention): boolean {
  if (status !== 'complete' && status !== 'half-discarded') return false;
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return (of === 'savepoints' ? savepointJobIdPrefix(name) : checkpointNumber(name)) !== undefined;
}

function selectOfGroup(members: readonly ListEntry[], retention: Retention): PruneGroup {
  const newestFirst = members.filter(({ status }) => status === 'complete').sort((a, b) => compareAge(b, a));
  const discard: string[] = [];
  const retained: RetainedCheckpoint[] = [];
  for (const [rank, entry] of newestFirst.entries()) {
    const reason = reasonToStay(entry, rank, retention);
    if (reason === undefined) discard.push(entry.pointer);
    else retained.push({ pointer: entry.pointer, reason });
  }
  const [first] = members;
  return {
    directory: parentOf(first?.pointer ?? ''),
    jobId: first?.jobId ?? null,
    jobIdPrefix: first?.jobIdPrefix ?? null,
    discard: discard.reverse(),
    unfinished: members.filter(({ status }) => status === 'half-discarded').map(({ pointer }) => pointer),
    retained: retained.reverse(),
  };
}

function reasonToStay(entry: ListEntry, rank: number, retention: Retention): RetainReason | undefined {
  const { keep, olderThan, now } = retention;
  if (rank === 0 && retention.newest !== 'may-go') return 'newest';
  if (keep !== undefined && rank < keep) return 'keep';
  if (olderThan !== undefined && !(Date.parse(entry.time ?? '') < now - olderThan)) return 'younger';
  // Neither was asked for: nothing says what may go.
  return keep === undefined && olderThan === undefined ? 'keep' : undefined;
}

function compareAge(a: ListEntry, b: ListEntry): number {
  const [first, second] = [BigInt(a.checkpointId ?? -1), BigInt(b.checkpointId ?? -1)];
  if (first !== second) return first < second ? -1 : 1;
  const [early, late] = [a.time ?? '', b.time ?? ''];
  return early === late ? (a.pointer < b.pointer ? -1 : 1) : early < late ? -1 : 1;
}

function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(pointer.lastIndexOf('/'), 0));
}

/**
 * Where files may be deleted and others are looked for: the root, and as for a discard the directory above each job, for a
 * job's files may be in use by its siblings.
 * @throws RefusedError if that would be the whole machine
 */
export function pruneArea(fileSystems: FileSystems, root: Path, pointers: readonly string[]): Path[] {
  const own = pointers.map((pointer) => defaultRoot(fileSystems, FlinkPath.parse(pointer)));
  return outermost([root, ...own]);
}

/**
 * Directories of which an interrupted discard has left nothing but themselves: its lock still names them.
 * @param area see {@link pruneArea}
 */
export async function emptiedCheckpoints(
  fileSystems: FileSystems,
  area: readonly Path[],
  { entries }: Pick<ListResult, 'entries'>,
): Promise<string[]> {
  const locked = new Set<string>();
  for (const root of area) {
    try {
      for (const pointer of (await readLock(fileSystems, root))?.pointers ?? []) locked.add(pointer);
    } catch (error) {
      if (!(error instanceof CkptError)) throw error;
    }
  }
  return entries
    .filter(({ pointer, leftFiles }) => leftFiles === 0 && locked.has(pointer))
    .map(({ pointer }) => pointer);
}
