/** An object store in memory, as strict as a real one, and with the weaknesses that some real ones have. */
import type {
  ListObjectsOptions,
  ObjectPage,
  ObjectStatus,
  ObjectStore,
  ObjectStoreLimits,
  ObjectUpload,
  PutOptions,
} from '../../src/filesystem/object-store/object-store.js';
import { ObjectStoreError } from '../../src/filesystem/object-store/object-store.js';

/** How a {@link MemoryObjectStore} is worse than the best. */
export interface MemoryObjectStoreOptions {
  /** Keys on a page; default 1,000. */
  readonly pageSize?: number;
  /** Keys of one deletion; default 1,000. */
  readonly deleteBatch?: number;
  /** Takes batches of deletions only in its documentation. */
  readonly refusesBatches?: boolean;
  /** Knows no `ifAbsent`. */
  readonly refusesConditions?: boolean;
  /** Passes over `ifAbsent` in silence; if not undefined, the store is one that might. */
  readonly ignoresConditions?: boolean;
  /** Keeps no tags. */
  readonly forgetsTags?: boolean;
  /** Neither versions nor sorted listings. */
  readonly isPlain?: boolean;
  /** Buckets that it can copy from, by their names. */
  readonly service?: ReadonlyMap<string, MemoryObjectStore>;
  /** Bytes that one copy may have. */
  readonly copyLimit?: number;
  /** Bytes that a part may have at most. */
  readonly copyPart?: number;
  /** Asked before each request; what it returns is what the request rejects with. */
  readonly failures?: (method: StoreMethod, key: string) => Error | undefined;
  /** The same after the request has had its effect: an answer that was lost. */
  readonly lostAnswers?: (method: StoreMethod, key: string) => Error | undefined;
  readonly clock?: () => number;
}

export type StoreMethod =
  | 'head'
  | 'list'
  | 'read'
  | 'put'
  | 'startUpload'
  | 'putPart'
  | 'complete'
  | 'abort'
  | 'copy'
  | 'delete';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly modificationTime: number;
  readonly version: string;
  readonly tag: string | undefined;
}

const MIB = 1024 * 1024;

/** See the file comment. */
export class MemoryObjectStore implements ObjectStore {
  readonly limits: ObjectStoreLimits;
  readonly service: string | undefined;
  readonly objects = new Map<string, StoredObject>();
  /** Uploads that are neither complete nor aborted. */
  readonly uploads = new Set<ObjectUpload>();
  readonly requests: { readonly method: StoreMethod; readonly key: string; readonly keys?: number }[] = [];
  /** The most requests that were under way at once. */
  mostAtOnce = 0;
  #atOnce = 0;
  #versions = 0;

  get mayIgnoreConditions(): boolean {
    return this.options.ignoresConditions !== undefined;
  }

  constructor(readonly options: MemoryObjectStoreOptions = {}) {
    this.service = options.service && 'memory';
    this.limits = {
      deleteBatch: options.deleteBatch ?? 1000,
      put: 5 * 1024 * MIB,
      leastPart: 5 * MIB,
      mostPart: options.copyPart ?? 5 * 1024 * MIB,
      parts: 10_000,
      copy: options.copyLimit ?? 5 * 1024 * MIB,
    };
  }

  /** Test set-up: neither logged nor failing. */
  set(key: string, contents: Uint8Array | string, tag?: string): void {
    const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents.slice();
    const modificationTime = Math.floor((this.options.clock ?? Date.now)());
    this.#versions += 1;
    this.objects.set(key, { bytes, modificationTime, version: `"${this.#versions}"`, tag });
  }

  /** How often a method was called. */
  count(method: StoreMethod): number {
    return this.requests.filter((request) => request.method === method).length;
  }

  async clockOffset(): Promise<number> {
    return (this.options.clock ?? Date.now)() - Date.now();
  }

  head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined> {
    return this.#request('head', key, signal, () => {
      const { tag } = this.objects.get(key) ?? {};
      const status = this.#status(key);
      return status && { ...status, ...(!this.options.forgetsTags && { tag }) };
    });
  }

  list(prefix: string, options: ListObjectsOptions = {}, signal?: AbortSignal): Promise<ObjectPage> {
    return this.#request('list', prefix, signal, () => {
      const { pageSize = 1000, isPlain } = this.options;
      const limit = Math.min(options.limit ?? pageSize, pageSize);
      const found = new Map<string, ObjectStatus | undefined>();
      const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix));
      keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      if (isPlain) keys.reverse();
      for (const key of keys) {
        const slash = options.delimiter === undefined ? -1 : key.indexOf('/', prefix.length);
        if (slash === -1) found.set(key, this.#status(key));
        else found.set(key.slice(0, slash + 1), undefined);
      }
      const names = [...found.keys()];
      const start = options.token === undefined ? 0 : names.findIndex((name) => `after ${name}` === options.token) + 1;
      const page = names.slice(start, start + limit);
      return {
        objects: page.flatMap((name) => found.get(name) ?? []),
        prefixes: page.filter((name) => found.get(name) === undefined),
        token: start + limit < names.length ? `after ${page.at(-1)}` : undefined,
      };
    });
  }

  read(
    key: string,
    { start, end, version }: { readonly start: number; readonly end: number; readonly version?: string | undefined },
    target: Uint8Array,
    offset: number,
    signal?: AbortSignal,
  ): Promise<void> {
    return this.#request('read', key, signal, () => {
      const object = this.objects.get(key);
      if (object === undefined) throw new ObjectStoreError('missing', 'no such key');
      if (version !== undefined && version !== object.version) throw new ObjectStoreError('precondition', 'changed');
      if (end > object.bytes.length) throw new ObjectStoreError('other', 'the range is not satisfiable');
      target.set(object.bytes.subarray(start, end), offset);
    });
  }

  put(key: string, bytes: Uint8Array, options: PutOptions = {}, signal?: AbortSignal): Promise<void> {
    return this.#request('put', key, signal, () => this.#put(key, bytes, options));
  }

  startCopy(from: ObjectStatus, to: string): Promise<ObjectUpload> {
    return this.startUpload(to, {}, from);
  }

  startUpload(key: string, options: PutOptions = {}, source?: ObjectStatus): Promise<ObjectUpload> {
    return this.#request('startUpload', key, undefined, () => {
      const parts = new Map<number, Uint8Array>();
      const checkOpen = () => {
        if (!this.uploads.has(upload)) throw new ObjectStoreError('missing', 'no such upload');
      };
      const upload: ObjectUpload = {
        putPart: (number, bytes, signal) =>
          this.#request('putPart', key, signal, () => {
            checkOpen();
            parts.set(number, bytes.slice());
          }),
        copyPart: (number, { start, end }, signal) =>
          this.#request('putPart', key, signal, () => {
            checkOpen();
            const bytes = this.objects.get(source?.key ?? '')?.bytes;
            if (bytes === undefined) throw new ObjectStoreError('missing', 'no such key');
            parts.set(number, bytes.slice(start, end));
          }),
        complete: (count, { ifAbsent = options.ifAbsent } = {}) =>
          this.#request('complete', key, undefined, () => {
            checkOpen();
            const pieces = Array.from({ length: count }, (_, index) => parts.get(index + 1));
            for (const [index, piece] of pieces.entries()) {
              if (piece === undefined) throw new ObjectStoreError('other', 'a part is missing');
              if (index < count - 1 && source === undefined && piece.length < this.limits.leastPart) {
                throw new ObjectStoreError('other', 'a part is too small');
              }
            }
            this.#put(key, Buffer.concat(pieces.map((piece) => piece ?? new Uint8Array())), { ...options, ifAbsent });
            this.uploads.delete(upload);
          }),
        abort: () =>
          this.#request('abort', key, undefined, () => {
            checkOpen();
            this.uploads.delete(upload);
          }),
      };
      this.uploads.add(upload);
      return upload;
    });
  }

  copy(from: ObjectStatus, to: string, signal?: AbortSignal): Promise<void> {
    return this.#request('copy', to, signal, () => {
      const { service } = this.options;
      const source = from.bucket === undefined ? this : service?.get(from.bucket);
      const object = source?.objects.get(from.key);
      if (object === undefined) throw new ObjectStoreError('missing', 'no such key');
      this.set(to, object.bytes);
    });
  }

  delete(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Error | undefined)[]> {
    this.requests.push({ method: 'delete', key: keys[0] ?? '', keys: keys.length });
    return this.#run(signal, () => {
      if (keys.length > this.limits.deleteBatch) throw new ObjectStoreError('other', 'too many keys');
      if (keys.length > 1 && this.options.refusesBatches) throw new ObjectStoreError('unsupported', 'not implemented');
      return keys.map((key) => {
        const failure = this.options.failures?.('delete', key);
        if (failure === undefined) this.objects.delete(key);
        return failure;
      });
    });
  }

  #put(key: string, bytes: Uint8Array, options: PutOptions): void {
    if (options.ifAbsent && this.options.refusesConditions)
      throw new ObjectStoreError('unsupported', 'not implemented');
    const isChecked = options.ifAbsent && this.options.ignoresConditions !== true;
    if (isChecked && this.objects.has(key)) throw new ObjectStoreError('precondition', 'it is there');
    this.set(key, bytes, options.tag);
  }

  #status(key: string): ObjectStatus | undefined {
    const object = this.objects.get(key);
    if (object === undefined) return undefined;
    const { bytes, modificationTime, version } = object;
    return { key, size: bytes.length, modificationTime, version: this.options.isPlain ? undefined : version };
  }

  async #request<T>(method: StoreMethod, key: string, signal: AbortSignal | undefined, work: () => T): Promise<T> {
    this.requests.push({ method, key });
    return this.#run(signal, () => {
      const failure = this.options.failures?.(method, key);
      if (failure !== undefined) throw failure;
      const result = work();
      const lost = this.options.lostAnswers?.(method, key);
      if (lost !== undefined) throw lost;
      return result;
    });
  }

  async #run<T>(signal: AbortSignal | undefined, work: () => T): Promise<T> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      return work();
    } finally {
      this.#atOnce -= 1;
    }
  }
}
