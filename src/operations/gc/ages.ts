/** How old files are, by the newest of all their times. */
import { CkptError } from '../../errors.js';
import type { EntryStatus } from '../../filesystem/file-system.js';
import type { FileSystems } from '../../filesystem/registry.js';
import type { Group } from './inventory.js';

const NAMES_AT_ONCE = 4096;

/** A file that is there. */
export interface StatedFile {
  readonly name: string;
  readonly status: EntryStatus;
}

/** When something counts as young. */
export interface AgeRule {
  /** Milliseconds. */
  readonly minAge: number;
  /** The store's clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** True for what is younger than it must be, and for times in the future. */
export function isYoung(newestTime: number, { minAge, now }: AgeRule): boolean {
  const age = now() - Math.floor(newestTime);
  return age < minAge || age < 0;
}

/**
 * Looks at files of one directory, many at once. Those that are gone, or are no plain files any more, are left out.
 * @throws the signal's reason; the error of a file that could not be looked at
 */
export async function* stated(
  fileSystems: FileSystems,
  { directory }: Group,
  names: Iterable<string>,
  signal?: AbortSignal,
): AsyncGenerator<StatedFile, void, undefined> {
  const fileSystem = await fileSystems.get(directory);
  for (const batch of batches(names, NAMES_AT_ONCE)) {
    const statuses = await fileSystem.getFileStatuses(directory, batch, signal);
    for (const [index, status] of statuses.entries()) {
      if (status instanceof CkptError) throw status;
      const name = batch[index];
      if (status?.type === 'file' && name !== undefined) yield { name, status };
    }
  }
}

/** What an iterable gives, some at a time. */
export function* batches<T>(items: Iterable<T>, size: number): Generator<T[], void, undefined> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
