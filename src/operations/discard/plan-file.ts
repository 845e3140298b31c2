/** Plans in files: what is shown today is carried out tomorrow, or nothing is. */
import { createHash } from 'node:crypto';
import { RefusedError, UsageError } from '../../errors.js';
import { forEachConcurrently } from '../../filesystem/limit.js';
import { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { METADATA_FILE, TOMBSTONE_FILE } from '../layout.js';
import type { PlanOptions } from './plan.js';
import { isStatus } from './targets.js';
import type { DiscardPlan, DiscardTarget } from './types.js';

const FORMAT = 'ckpt-plan';
const FORMAT_VERSION = 1;

/** The options that a plan was made with, as far as they decide what is in it. */
export interface PlanSettings extends Pick<PlanOptions, 'scope' | 'otherUsers' | 'job' | 'minAge' | 'unreadable'> {
  readonly roots: readonly Path[];
  readonly aliases: readonly (readonly string[])[];
  readonly moveTo: Path | undefined;
  /** What counted as now, ms since the epoch. */
  readonly now: number;
}

/** A saved plan. */
export interface SavedPlan {
  /** The command that made it. */
  readonly command: string;
  readonly pointers: readonly string[];
  readonly settings: PlanSettings;
  readonly fingerprint: string;
}

/**
 * A digest of a plan and of all metadata in its area, by sizes and times: equal for two plans of which the second may be
 * carried out in place of the first.
 */
export async function fingerprintOf(fileSystems: FileSystems, plan: DiscardPlan): Promise<string> {
  const lines: string[] = [];
  await forEachConcurrently(plan.area, async ({ directory, entries }) => {
    const names = [METADATA_FILE, TOMBSTONE_FILE];
    const statuses = await (await fileSystems.get(directory)).getFileStatuses(directory, names);
    const found = statuses.map((status) => (isStatus(status) ? [status.size, status.modificationTime] : null));
    lines.push(JSON.stringify([directory, entries, found]));
  });
  lines.sort();
  const times = new Map<number, number>();
  for (const { files } of plan.directories) {
    for (const { index, modificationTime } of files) times.set(index, modificationTime);
  }
  const hash = createHash('sha256');
  const add = (value: unknown): void => void hash.update(`${JSON.stringify(value)}\n`);
  for (const line of lines) add(line);
  for (const { target, metadata, strayEntries } of plan.targets) {
    add([
      target.directory,
      target.metadataPath.name,
      target.state,
      target.hasTombstone,
      metadata ?? null,
      strayEntries,
    ]);
  }
  for (const [index, { path, bytes, step }] of plan.delete.entries())
    add([path, bytes, step, times.get(index) ?? null]);
  for (const { path, bytes, reason, usedBy } of plan.keep) add([path, bytes, reason, usedBy]);
  add([plan.alreadyGone, plan.search.metadataFiles, plan.search.unreadable.map(({ path }) => path)]);
  return hash.digest('hex');
}

/**
 * Refuses to go on with a plan that is not the one that was seen.
 * @throws RefusedError
 */
export async function requireSamePlan(fileSystems: FileSystems, plan: DiscardPlan, fingerprint: string): Promise<void> {
  if (plan.failed.length === 0 && (await fingerprintOf(fileSystems, plan)) === fingerprint) return;
  throw new RefusedError('the files have changed since the plan was made; make a new one, nothing was changed', {
    reason: 'changed',
  });
}

/** What leads to the same checkpoint from any working directory. */
export function pointerOf({ directory, metadataPath, tombstonePath, state }: DiscardTarget): string {
  if (metadataPath.name === METADATA_FILE) return directory.toString();
  return (state === 'complete' ? metadataPath : tombstonePath).toString();
}

/** The text of a plan file. */
export function serializePlan(saved: SavedPlan, plan: DiscardPlan): string {
  const { command, pointers, settings, fingerprint } = saved;
  const document = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    command,
    made: new Date(settings.now).toISOString(),
    pointers,
    settings,
    fingerprint,
    plan: { delete: plan.delete, keep: plan.keep },
  };
  return `${JSON.stringify(document)}\n`;
}

/**
 * Reads the text of a plan file. What goes is not taken from it: the plan is made anew and must come out the same.
 * @throws UsageError if it is none, or one of another command
 */
export function parsePlan(text: string, location: string, command: string): SavedPlan {
  const wrong = (reason: string): never => {
    throw new UsageError(`${location}: not a plan of ckpt ${command}: ${reason}`, { path: location });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return wrong('it is no JSON');
  }
  if (!isRecord(value) || value.format !== FORMAT) return wrong('it says nothing of being one');
  if (value.formatVersion !== FORMAT_VERSION) return wrong(`version ${value.formatVersion} is not known`);
  if (value.command !== command) return wrong(`it was made by ckpt ${value.command}`);
  const { pointers, settings, fingerprint } = value;
  if (!isTexts(pointers) || typeof fingerprint !== 'string' || !isRecord(settings)) return wrong('fields are missing');
  const { roots, aliases, moveTo, now, minAge } = settings;
  if (!isTexts(roots) || typeof now !== 'number') return wrong('fields are missing');
  return {
    command,
    pointers,
    fingerprint,
    settings: {
      roots: roots.map((root) => Path.parse(root)),
      aliases: Array.isArray(aliases) ? aliases.filter(isTexts) : [],
      moveTo: typeof moveTo === 'string' ? Path.parse(moveTo) : undefined,
      now,
      ...(typeof minAge === 'number' && { minAge }),
      scope: settings.scope === 'own-directories' ? 'own-directories' : 'all',
      otherUsers: settings.otherUsers === 'ignore' ? 'ignore' : 'respect',
      job: settings.job === 'stopped' ? 'stopped' : 'may-run',
      unreadable: settings.unreadable === 'own-directory' ? 'own-directory' : 'fail',
    },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
