/** Many objects of one directory at once: a listing where it is cheaper than a request for each, deletions in batches. */
import { asError, CkptError, InvalidPathError, WrongFileTypeError } from '../../errors.js';
import type { BulkDeletion, EntryStatus } from '../file-system.js';
import { forEachConcurrently } from '../limit.js';
import type { Path } from '../path.js';
import { TransientFailure } from '../requests.js';
import type { ObjectBucket } from './object-bucket.js';
import { isRefusal, toFileSystemError } from './object-errors.js';
import { commonPrefix, keyOf, prefixOf } from './object-keys.js';
import { listEntries } from './object-listing.js';
import { type Found, lookUp } from './object-lookup.js';

/** Fewer names are looked up one by one. */
const LEAST_FOR_LISTING = 16;
/** A page of a listing costs about as much as this many single requests; a listing that has cost more is given up. */
const REQUESTS_OF_A_PAGE = 16;

/** Looks up and deletes the entries of one directory. */
export class ObjectBulk {
  readonly #prefix: string;
  /** Set where the store has shown that it takes no batches. */
  #batch: number;

  constructor(
    private readonly bucket: ObjectBucket,
    private readonly directory: Path,
    batch: number,
    private readonly onBatchRefused: () => void,
  ) {
    this.#prefix = prefixOf(keyOf(directory));
    this.#batch = batch;
  }

  /** As `FileSystem.getFileStatuses`. */
  async statuses(names: readonly string[], signal?: AbortSignal): Promise<(EntryStatus | CkptError | undefined)[]> {
    signal?.throwIfAborted();
    const results = new Map<string, EntryStatus | CkptError | undefined>();
    const wanted = new Set<string>();
    for (const name of names) {
      const invalid = this.#invalid(name);
      if (invalid) results.set(name, invalid);
      else wanted.add(name);
    }
    if (wanted.size >= LEAST_FOR_LISTING) await this.#statusesByListing(wanted, results, signal);
    await forEachConcurrently(
      wanted,
      async (name) => {
        results.set(name, await this.#status(name, signal));
      },
      { concurrency: this.bucket.requests.concurrency, signal },
    );
    signal?.throwIfAborted();
    return names.map((name) => results.get(name));
  }

  /** As `FileSystem.deleteFiles`. */
  async delete(names: readonly string[], signal?: AbortSignal): Promise<BulkDeletion[]> {
    if (signal?.aborted) return names.map(() => undefined);
    let statuses: (EntryStatus | CkptError | undefined)[];
    try {
      statuses = await this.statuses(names, signal);
    } catch (error) {
      if (signal?.aborted) return names.map(() => undefined);
      throw error;
    }
    const results: BulkDeletion[] = [];
    const indexes = new Map<string, number>();
    for (const [index, name] of names.entries()) {
      const status = statuses[index];
      if (status === undefined || indexes.has(name)) results[index] = false;
      else if (status instanceof CkptError) results[index] = status;
      else if (status.type !== 'file') results[index] = new WrongFileTypeError(this.#path(name), 'file');
      else {
        results[index] = undefined;
        indexes.set(name, index);
      }
    }
    await this.#deleteAll([...indexes.keys()], signal, (name, result) => {
      const index = indexes.get(name);
      if (index !== undefined) results[index] = result;
    });
    return results;
  }

  /**
   * Takes from `wanted` what a listing has told of. What a listing of reasonable length has not shown stays.
   */
  async #statusesByListing(
    wanted: Set<string>,
    results: Map<string, EntryStatus | CkptError | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const found = new Map<string, EntryStatus>();
    let pages = Math.ceil(wanted.size / REQUESTS_OF_A_PAGE);
    let isComplete = false;
    const start = commonPrefix([...wanted]);
    try {
      isComplete = true;
      for await (const { entries } of listEntries(this.bucket, this.#prefix, signal, start)) {
        for (const { name, type, size = 0, modificationTime = 0 } of entries) {
          // An object comes before a directory of its name.
          if (!wanted.has(name) || found.get(name)?.type === 'file') continue;
          found.set(name, { type, size, modificationTime, newestTime: modificationTime, linkCount: 1 });
        }
        pages -= 1;
        isComplete = false;
        if (pages === 0) break;
        isComplete = true;
      }
    } catch {
      signal?.throwIfAborted();
      // Without the right to list, names can still be looked up.
      isComplete = false;
    }
    for (const name of [...wanted]) {
      const status = found.get(name);
      // A directory may turn out to be an object on a later page.
      if (!isComplete && status?.type !== 'file') continue;
      results.set(name, status);
      wanted.delete(name);
    }
  }

  async #status(name: string, signal: AbortSignal | undefined): Promise<EntryStatus | CkptError | undefined> {
    const path = this.directory.entry(name);
    try {
      return statusOf(await lookUp(this.bucket, this.#prefix + name, signal));
    } catch (error) {
      return toFileSystemError(error, path, 'status');
    }
  }

  async #deleteAll(
    names: readonly string[],
    signal: AbortSignal | undefined,
    onResult: (name: string, result: true | CkptError) => void,
  ): Promise<void> {
    const batches: string[][] = [];
    for (let start = 0; start < names.length; start += this.#batch) {
      batches.push(names.slice(start, start + this.#batch));
    }
    await forEachConcurrently(
      batches,
      async (batch) => {
        for (const [name, result] of await this.#deleteBatch(batch, signal)) onResult(name, result);
      },
      { concurrency: this.bucket.requests.concurrency, signal },
    );
  }

  /** What has not been tried because of the signal is left out. */
  async #deleteBatch(
    names: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, true | CkptError>> {
    const results = new Map<string, true | CkptError>();
    const fail = (name: string, error: unknown) =>
      results.set(name, toFileSystemError(error, this.directory.entry(name), 'delete'));
    let rest: readonly string[] = names;
    let lost: unknown;
    try {
      await this.bucket.run(
        names.length === 1 ? 'DELETE' : `DELETE ${names.length} of`,
        this.#prefix,
        async () => {
          const answers = await this.bucket.store.delete(rest.map((name) => this.#prefix + name));
          const again: string[] = [];
          for (const [index, name] of rest.entries()) {
            const answer = answers[index];
            if (answer === undefined) results.set(name, true);
            else if (answer instanceof TransientFailure) again.push(name);
            else fail(name, answer);
            if (answer instanceof TransientFailure) lost = answer;
          }
          rest = again;
          if (again.length > 0) throw asError(lost);
        },
        signal,
      );
    } catch (error) {
      if (names.length > 1 && isRefusal(error, 'unsupported')) {
        this.#batch = 1;
        this.onBatchRefused();
        const single = new Map<string, true | CkptError>();
        await this.#deleteAll(names, signal, (name, result) => single.set(name, result));
        return single;
      }
      for (const name of rest) if (!signal?.aborted) fail(name, error);
    }
    return results;
  }

  #invalid(name: string): InvalidPathError | undefined {
    try {
      keyOf(this.directory.entry(name));
      return undefined;
    } catch (error) {
      if (error instanceof InvalidPathError) return error;
      throw error;
    }
  }

  #path(name: string): string {
    return this.directory.entry(name).toString();
  }
}

/** What is known of an entry; undefined if nothing is there. An object comes before a directory of its name. */
export function statusOf({ object, isDirectory }: Found): EntryStatus | undefined {
  if (object) {
    const { size, modificationTime } = object;
    return { type: 'file', size, modificationTime, newestTime: modificationTime, linkCount: 1 };
  }
  return isDirectory ? { type: 'directory', size: 0, modificationTime: 0, newestTime: 0, linkCount: 1 } : undefined;
}
