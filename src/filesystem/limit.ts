/** Many I/O operations at once, but not too many, and chunks of a file read ahead. Memory does not grow with the work. */
import type { ByteSource, FileSystem } from './file-system.js';
import type { Path } from './path.js';

/** How many operations run at once unless something else is asked for. Beyond it neither disks nor stores get faster. */
export const DEFAULT_CONCURRENCY = 16;

/** Options of {@link forEachConcurrently}. */
export interface ConcurrencyOptions {
  /** Default {@link DEFAULT_CONCURRENCY}. */
  readonly concurrency?: number;
  /** Stops taking items; what has begun is finished. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `work` for every item, several at once, in any order. An item is taken only when there is room for it and nothing of
 * it is kept, so the source may be a listing of millions. (p-map keeps a result for each item, and returns at the first
 * error while other work is still under way.)
 * @returns whether all items were worked on: false if the signal stopped it. Nothing is running any more then.
 * @throws the first error of `work` or of the source, after everything that had begun has ended
 */
export async function forEachConcurrently<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  options: ConcurrencyOptions = {},
): Promise<boolean> {
  const { concurrency = DEFAULT_CONCURRENCY, signal } = options;
  const iterator = iterate(items);
  const failures: { readonly error: unknown }[] = [];
  const mayGoOn = () => signal?.aborted !== true && failures.length === 0;
  let isComplete = false;
  let wasStopped = false;
  // One after another: an iterator need not like several calls of `next` at once.
  let last: Promise<unknown> = Promise.resolve();
  const take = (): Promise<IteratorResult<T> | undefined> => {
    const next = last.then(() => (mayGoOn() && !isComplete ? iterator.next() : undefined));
    last = next.catch(() => undefined);
    return next;
  };
  const worker = async (): Promise<void> => {
    try {
      for (let next = await take(); next !== undefined; next = await take()) {
        if (next.done === true) {
          isComplete = true;
        } else if (mayGoOn()) {
          await work(next.value);
        } else {
          wasStopped = true;
        }
      }
    } catch (error) {
      failures.push({ error });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const [first] = failures;
  await iterator.return(undefined);
  if (first !== undefined) throw first.error;
  return isComplete && !wasStopped;
}

async function* iterate<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, undefined> {
  yield* items;
}

/** What became of one file that was to be deleted. */
export type DeletionResult =
  | { readonly path: Path; readonly outcome: 'deleted' | 'missing' }
  | { readonly path: Path; readonly outcome: 'failed'; readonly error: unknown };

/** Options of {@link deleteFiles}. */
export interface DeleteFilesOptions extends ConcurrencyOptions {
  /** Told of each file as soon as it is decided, in no particular order. */
  readonly onResult?: (result: DeletionResult) => void | Promise<void>;
}

/** What {@link deleteFiles} has done. */
export interface DeletionCounts {
  readonly deleted: number;
  /** Nothing was there, which is as good as deleted. */
  readonly missing: number;
  readonly failed: number;
  /** False if the signal stopped it before all paths were taken. */
  readonly isComplete: boolean;
}

/**
 * Deletes files, several at once. A failure stops nothing; `onResult` tells of it. A signal stops it at a safe point: no
 * deletion is under way any more when this resolves.
 * @throws what `paths` or `onResult` throw
 */
export async function deleteFiles(
  fileSystem: FileSystem,
  paths: Iterable<Path> | AsyncIterable<Path>,
  options: DeleteFilesOptions = {},
): Promise<DeletionCounts> {
  const counts = { deleted: 0, missing: 0, failed: 0 };
  const isComplete = await forEachConcurrently(
    paths,
    async (path) => {
      const result = await deleteOne(fileSystem, path);
      counts[result.outcome] += 1;
      await options.onResult?.(result);
    },
    options,
  );
  return { ...counts, isComplete };
}

async function deleteOne(fileSystem: FileSystem, path: Path): Promise<DeletionResult> {
  try {
    return { path, outcome: (await fileSystem.deleteFile(path)) ? 'deleted' : 'missing' };
  } catch (error) {
    return { path, outcome: 'failed', error };
  }
}

/** Options of {@link readChunks}. */
export interface ReadChunksOptions {
  /** First byte; default 0. */
  readonly start?: number;
  /** Byte behind the last; default the size. */
  readonly end?: number;
  /** Bytes of each chunk but the last, default 1 MiB. */
  readonly chunkBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A range of a file, chunk by chunk, the next one being read while the caller works on this one. Two buffers are used in
 * turn: a chunk is valid only until the next one is asked for.
 * @throws what `source.read` throws; RangeError if `start` and `end` are no range
 */
export async function* readChunks(
  source: ByteSource,
  options: ReadChunksOptions = {},
): AsyncGenerator<Uint8Array, void> {
  const { start = 0, end = source.size, chunkBytes = 1024 * 1024, signal } = options;
  if (start > end || chunkBytes < 1) throw new RangeError(`${start} to ${end} by ${chunkBytes} is no range of chunks`);
  const capacity = Math.min(chunkBytes, end - start);
  const buffers = [new Uint8Array(capacity), new Uint8Array(end - start > capacity ? capacity : 0)];
  const fetch = (index: number): Promise<Uint8Array> | undefined => {
    const from = start + index * chunkBytes;
    if (from >= end) return undefined;
    const to = Math.min(from + chunkBytes, end);
    const buffer = buffers[index % 2] ?? new Uint8Array(0);
    const chunk = source.readInto(buffer, 0, from, to, signal).then(() => buffer.subarray(0, to - from));
    // It may fail while nobody waits for it yet.
    chunk.catch(() => undefined);
    return chunk;
  };
  let next = fetch(0);
  try {
    for (let index = 1; next !== undefined; index++) {
      const chunk: Uint8Array = await next;
      next = fetch(index);
      yield chunk;
    }
  } finally {
    // A caller who leaves early may close the source right away.
    await next?.catch(() => undefined);
  }
}
