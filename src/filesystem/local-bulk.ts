/**
 * Looking at and removing many files of one local directory. A promise for each file costs several times what the system
 * takes for it, so the calls are synchronous, in slices that are short enough for timers, signals and other work in between.
 * Where the store itself is slow (a network), many calls wait at once instead.
 */
import type { Stats } from 'node:fs';
import { lstatSync, statSync, unlinkSync } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import { setImmediate as breathe } from 'node:timers/promises';
import { CkptError, IoError } from '../errors.js';
import { asCkptError } from './bulk.js';
import type { BulkDeletion, BulkDeletionOptions, EntryStatus } from './file-system.js';
import { forEachConcurrently } from './limit.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { fileTypeOf } from './local-listing.js';
import { toNativePath } from './local-path.js';
import type { Path } from './path.js';

/** Names whose native path is that of the directory, a slash, and the name as it is. */
const PLAIN_NAME = /^(?!\.\.?$)[^/\0\ud800-\udfff]+$/;
const SLICE_MILLISECONDS = 20;
/** How many calls between two looks at the clock. */
const STEP = 16;
/** A call that takes longer than this on average waits for something else than this machine. */
const SLOW_MILLISECONDS = 0.5;

/** `FileSystem.getFileStatuses` of local files. */
export async function statusLocalFiles(
  directory: Path,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<(EntryStatus | CkptError | undefined)[]> {
  const nativeOf = nativePaths(directory);
  const statuses: (EntryStatus | CkptError | undefined)[] = new Array(names.length).fill(undefined);
  const failed = (index: number, error: unknown): void => {
    statuses[index] = isMissing(error) ? undefined : asOurs(error, directory, names[index], 'status');
  };
  await inSlices(names.length, {
    signal,
    quick(index) {
      try {
        const status = lstatSync(nativeOf(names[index] ?? ''), { throwIfNoEntry: false });
        statuses[index] = status && describeEntry(status);
      } catch (error) {
        failed(index, error);
      }
    },
    async slow(index) {
      try {
        statuses[index] = describeEntry(await lstat(nativeOf(names[index] ?? '')));
      } catch (error) {
        failed(index, error);
      }
    },
  });
  signal?.throwIfAborted();
  return statuses;
}

/**
 * `FileSystem.deleteFiles` of local files.
 * @param explain gives the result for a file of which `unlink` failed
 */
export async function deleteLocalFiles(
  directory: Path,
  names: readonly string[],
  options: BulkDeletionOptions,
  explain: (path: Path, error: unknown) => Promise<boolean>,
): Promise<BulkDeletion[]> {
  const { identity, signal } = options;
  const nativeOf = nativePaths(directory);
  const checkDirectory = identity === undefined ? () => true : directoryCheck(directory, identity);
  const results: BulkDeletion[] = new Array(names.length).fill(undefined);
  const failures: { readonly index: number; readonly error: unknown }[] = [];
  await inSlices(names.length, {
    signal,
    quick(index) {
      try {
        if (!checkDirectory()) {
          results[index] = false;
          return;
        }
        unlinkSync(nativeOf(names[index] ?? ''));
        results[index] = true;
      } catch (error) {
        failures.push({ index, error });
      }
    },
    async slow(index) {
      try {
        if (!checkDirectory()) {
          results[index] = false;
          return;
        }
        await unlink(nativeOf(names[index] ?? ''));
        results[index] = true;
      } catch (error) {
        failures.push({ index, error });
      }
    },
  });
  for (const { index, error } of failures) {
    const name = names[index] ?? '';
    try {
      results[index] = error instanceof CkptError ? error : await explain(directory.entry(name), error);
    } catch (reason) {
      results[index] = asCkptError(reason, directory, 'delete');
    }
  }
  return results;
}

/** What an entry is, by its own status. */
function describeEntry(status: Stats): EntryStatus {
  const type = status.isSymbolicLink() ? 'link' : fileTypeOf(status);
  return {
    type,
    size: type === 'file' ? status.size : 0,
    modificationTime: Math.floor(status.mtimeMs),
    newestTime: Math.floor(Math.max(status.mtimeMs, status.ctimeMs, status.birthtimeMs)),
    linkCount: status.nlink,
  };
}

function nativePaths(directory: Path): (name: string) => string | Buffer {
  const native = toNativePath(directory);
  const front = typeof native === 'string' ? (native.endsWith('/') ? native : `${native}/`) : undefined;
  return (name) => (front !== undefined && PLAIN_NAME.test(name) ? front + name : toNativePath(directory.entry(name)));
}

/**
 * @returns a check that is true while the directory is the one of this identity, and false if nothing is there any more
 * @throws the check: IoError if it is another one
 */
function directoryCheck(directory: Path, identity: string): () => boolean {
  const native = toNativePath(directory);
  return () => {
    const status = statSync(native, { bigint: true, throwIfNoEntry: false });
    if (status === undefined) return false;
    if (status.isDirectory() && `${status.dev}:${status.ino}` === identity) return true;
    const cause = new Error(
      'another directory, or a link to one, has taken the place of this one since it was looked at',
    );
    throw new IoError(directory.toString(), 'delete', { cause });
  };
}

interface SliceWork {
  readonly signal: AbortSignal | undefined;
  readonly quick: (index: number) => void;
  readonly slow: (index: number) => Promise<void>;
}

/** Works on all indexes below `count`, or until the signal is aborted. */
async function inSlices(count: number, work: SliceWork): Promise<void> {
  let next = 0;
  while (next < count && work.signal?.aborted !== true) {
    const start = performance.now();
    const first = next;
    do {
      for (const end = Math.min(next + STEP, count); next < end; next++) work.quick(next);
    } while (next < count && performance.now() - start < SLICE_MILLISECONDS);
    if (next === count) return;
    if ((performance.now() - start) / (next - first) > SLOW_MILLISECONDS) {
      await forEachConcurrently(range(next, count), work.slow, { signal: work.signal });
      return;
    }
    await breathe();
  }
}

function* range(start: number, end: number): Generator<number> {
  for (let index = start; index < end; index++) yield index;
}

function isMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

function asOurs(error: unknown, directory: Path, name: string | undefined, action: string): CkptError {
  if (error instanceof CkptError || name === undefined) return asCkptError(error, directory, action);
  return fromErrno(error, directory.entry(name), action);
}
