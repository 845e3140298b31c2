/**
 * A file system of an object store: directories are what keys begin with, a file is there when it is whole, nothing can be
 * renamed. An empty directory exists by its marker, an empty object whose key is the name and a slash, as Flink's plug-ins,
 * Hadoop and consoles write it; `name_$folder$` of older ones is understood too. Markers are no entries.
 */
import type { CkptError } from '../../errors.js';
import {
  AlreadyExistsError,
  DirectoryNotEmptyError,
  InvalidPathError,
  NotFoundError,
  UnsupportedOperationError,
  WrongFileTypeError,
} from '../../errors.js';
import type {
  AtomicOptions,
  AtomicWriter,
  BulkDeletion,
  BulkDeletionOptions,
  ByteSource,
  DirectoryEntry,
  EntryStatus,
  FileStatus,
  FileSystem,
} from '../file-system.js';
import { Path } from '../path.js';
import type { StoreRequests } from '../requests.js';
import { ConditionalPut } from './conditional-put.js';
import { ObjectBucket } from './object-bucket.js';
import { ObjectBulk, statusOf } from './object-bulk.js';
import { copyObject } from './object-copy.js';
import { isRefusal, toFileSystemError } from './object-errors.js';
import { keyOf, LEGACY_MARKER, prefixOf } from './object-keys.js';
import { listEntries } from './object-listing.js';
import { type Found, isMarker, lookUp, lookUpByListing } from './object-lookup.js';
import { ObjectSource } from './object-source.js';
import type { ObjectStatus, ObjectStore } from './object-store.js';
import { writerFor } from './object-writer.js';

/** What an {@link ObjectStoreFileSystem} is made of. */
export interface ObjectStoreFileSystemOptions {
  /** Of its paths. */
  readonly scheme: string;
  /** Bucket, as in the paths. */
  readonly authority: string;
  readonly store: ObjectStore;
  readonly requests: StoreRequests;
  /**
   * Entries whose names have this are not listed: paths with it lead elsewhere (S3's entropy, see `s3/entropy.ts`), and
   * nothing but markers is there.
   */
  readonly hidden?: string | undefined;
  /** Opens another bucket, which this one may be copied to; default: copies stay within the bucket. */
  readonly openOther?: ((authority: string) => Promise<FileSystem>) | undefined;
  /** Takes what a user should know of this store; default: nobody is told. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** See the file comment. */
export class ObjectStoreFileSystem implements FileSystem {
  readonly kind = 'object-store';
  readonly scheme: string;
  readonly #authority: string;
  readonly #bucket: ObjectBucket;
  readonly #condition: ConditionalPut;
  readonly #warn: (message: string) => void;
  readonly #hidden: string | undefined;
  readonly #openOther: ((authority: string) => Promise<FileSystem>) | undefined;
  readonly #others = new Map<string, Promise<FileSystem>>();
  #deleteBatch: number;

  constructor(options: ObjectStoreFileSystemOptions) {
    const { scheme, authority, store, requests, hidden, openOther, warn = () => undefined } = options;
    const root = `${scheme}://${authority}`;
    this.scheme = scheme;
    this.#authority = authority;
    this.#bucket = new ObjectBucket(store, requests, root);
    this.#warn = (message) => warn(`${root}: ${message}`);
    this.#condition = new ConditionalPut(this.#bucket, this.#warn);
    this.#hidden = hidden;
    this.#openOther = openOther;
    this.#deleteBatch = store.limits.deleteBatch;
  }

  /** @throws InvalidPathError for another scheme or bucket */
  qualify(path: Path): Path {
    const { scheme = this.scheme, authority = this.#authority } = path;
    if (scheme !== this.scheme) throw new InvalidPathError(path.toString(), `its scheme is not ${this.scheme}`);
    if (authority !== this.#authority) {
      throw new InvalidPathError(path.toString(), `it is not in the bucket ${this.#authority}`);
    }
    const { path: name } = path.tidy;
    return Path.verbatim({ scheme, authority, path: name.startsWith('/') ? name : `/${name}` }).tidy;
  }

  async clockOffset(path: Path, signal?: AbortSignal): Promise<number> {
    const ask = () => this.#bucket.store.clockOffset(signal);
    return this.#do(path, 'asking for the time', () => this.#bucket.run('HEAD', '', ask, signal));
  }

  async getFileStatus(path: Path): Promise<FileStatus> {
    const status = statusOf(await this.#lookUp(path));
    if (status === undefined) throw new NotFoundError(path.toString());
    return { ...status, type: status.type === 'file' ? 'file' : 'directory', path, isLink: false, identity: undefined };
  }

  async getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]> {
    try {
      return await this.#bulk(directory).statuses(names, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const failure = toFileSystemError(error, directory, 'status');
      return names.map(() => failure);
    }
  }

  async *list(directory: Path, signal?: AbortSignal): AsyncGenerator<readonly DirectoryEntry[]> {
    const key = this.#key(directory);
    let isThere = key === '';
    let unnamed: string | undefined;
    try {
      for await (const page of listEntries(this.#bucket, prefixOf(key), signal)) {
        isThere ||= page.isThere;
        [unnamed = unnamed] = page.unnamed;
        const entries =
          this.#hidden === undefined ? page.entries : page.entries.filter((entry) => this.#isShown(entry));
        if (entries.length > 0) yield entries;
      }
      if (!isThere) await this.#checkDirectory(directory, key, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw toFileSystemError(error, directory, 'list');
    }
    if (unnamed !== undefined) {
      this.#warn(`there are objects that no path can name, such as "${unnamed}"; they are left out everywhere`);
    }
  }

  async open(path: Path): Promise<ByteSource> {
    const { object, isDirectory } = await this.#lookUp(path);
    if (object) return new ObjectSource(this.#bucket, object, path);
    throw isDirectory ? new WrongFileTypeError(path.toString(), 'file') : new NotFoundError(path.toString());
  }

  async resolveLinks(path: Path): Promise<Path> {
    return this.qualify(path);
  }

  async makeDirectory(path: Path): Promise<boolean> {
    const key = this.#key(path);
    const { object, isDirectory } = await this.#lookUpByListing(path);
    if (isDirectory) return false;
    if (object) throw new AlreadyExistsError(path.toString());
    try {
      await this.#condition.put(`${key}/`, new Uint8Array(0));
      return true;
    } catch (error) {
      if (isRefusal(error, 'precondition')) return false;
      throw toFileSystemError(error, path, 'make directory');
    }
  }

  async createAtomic(path: Path, options: AtomicOptions = {}): Promise<AtomicWriter> {
    const isOverwriting = options.overwrite === true;
    await this.#checkFree(path, isOverwriting);
    const condition = isOverwriting ? undefined : this.#condition;
    return writerFor({ bucket: this.#bucket, key: this.#key(path), path, condition }, options.size);
  }

  async createExclusive(path: Path, contents: Uint8Array): Promise<void> {
    const writer = await this.createAtomic(path);
    try {
      await writer.write(contents);
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.commit();
  }

  async rename(from: Path): Promise<void> {
    throw new UnsupportedOperationError(from.toString(), 'rename');
  }

  async copyFile(from: Path, to: Path): Promise<void> {
    const target = await this.#copyTarget(from, to);
    const { object, isDirectory } = await this.#lookUp(from);
    if (!object) {
      throw isDirectory ? new WrongFileTypeError(from.toString(), 'file') : new NotFoundError(from.toString());
    }
    if (target === this) return this.#do(to, 'copy', () => copyObject(this.#bucket, object, this.#key(to)));
    await target.#take(to, { ...object, bucket: this.#authority });
  }

  /** The bucket of `to`, if the store can copy there. */
  async #copyTarget(from: Path, to: Path): Promise<ObjectStoreFileSystem> {
    const isOwn = to.scheme === this.scheme && to.authority === this.#authority;
    if (isOwn) return this;
    const { service } = this.#bucket.store;
    if (to.scheme === this.scheme && to.authority !== undefined && service !== undefined && this.#openOther) {
      const opened = this.#others.get(to.authority) ?? this.#openOther(to.authority);
      this.#others.set(to.authority, opened);
      const other = await opened;
      if (other instanceof ObjectStoreFileSystem && other.#bucket.store.service === service) return other;
    }
    throw new UnsupportedOperationError(from.toString(), 'a copy into another store');
  }

  /** Copies an object of another bucket. */
  async #take(to: Path, object: ObjectStatus): Promise<void> {
    try {
      await copyObject(this.#bucket, object, this.#key(to));
    } catch (error) {
      // Whoever may write here need not be allowed to read there, and the other way round: then this program carries the bytes.
      const isRefused = isRefusal(error, 'denied') || isRefusal(error, 'missing') || isRefusal(error, 'unsupported');
      if (isRefused) throw new UnsupportedOperationError(to.toString(), 'a copy from another bucket', { cause: error });
      throw toFileSystemError(error, to, 'copy');
    }
  }

  async deleteFile(path: Path): Promise<boolean> {
    const { object, isDirectory } = await this.#lookUp(path);
    if (object) {
      await this.#do(path, 'delete', () => this.#delete([object.key]));
      return true;
    }
    if (isDirectory) throw new WrongFileTypeError(path.toString(), 'file');
    return false;
  }

  async deleteFiles(
    directory: Path,
    names: readonly string[],
    options: BulkDeletionOptions = {},
  ): Promise<readonly BulkDeletion[]> {
    try {
      return await this.#bulk(directory).delete(names, options.signal);
    } catch (error) {
      const failure = toFileSystemError(error, directory, 'delete');
      return names.map(() => failure);
    }
  }

  async deleteDirectory(path: Path): Promise<boolean> {
    const key = this.#key(path);
    return this.#do(path, 'delete', async () => {
      if (await this.#hasEntries(key)) throw new DirectoryNotEmptyError(path.toString());
      if (key === '') throw new UnsupportedOperationError(path.toString(), 'removing a bucket');
      const names = [`${key}/`, key + LEGACY_MARKER, key];
      const own = (await Promise.all(names.map((name) => this.#bucket.head(name)))).filter(
        (found) => found !== undefined,
      );
      const markers = own.filter((found) => (found.key === key ? found.isDirectory === true : isMarker(found)));
      const isFile = own.some((found) => found.key === key && !found.isDirectory);
      if (markers.length === 0 && isFile) throw new WrongFileTypeError(path.toString(), 'directory');
      await this.#delete(markers.map((marker) => marker.key));
      return markers.length > 0;
    });
  }

  #isShown({ name }: DirectoryEntry): boolean {
    return this.#hidden === undefined || !name.includes(this.#hidden);
  }

  /** True if anything but a marker of its own is in a directory. */
  async #hasEntries(key: string): Promise<boolean> {
    const prefix = prefixOf(key);
    for await (const { objects } of this.#bucket.pages(prefix, { limit: 2 })) {
      if (objects.some((object) => object.key !== prefix || !isMarker(object))) return true;
    }
    return false;
  }

  /** Deletes one by one, as every store can. */
  async #delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#bucket.run('DELETE', key, async () => {
        const [failure] = await this.#bucket.store.delete([key]);
        if (failure) throw failure;
      });
    }
  }

  /** @throws unless there is a directory although nothing is below its key */
  async #checkDirectory(directory: Path, key: string, signal: AbortSignal | undefined): Promise<void> {
    const [legacy, object] = await Promise.all(
      [key + LEGACY_MARKER, key].map((name) => this.#bucket.head(name, signal)),
    );
    if (isMarker(legacy) || object?.isDirectory) return;
    throw object ? new WrongFileTypeError(directory.toString(), 'directory') : new NotFoundError(directory.toString());
  }

  async #checkFree(path: Path, isOverwriting: boolean): Promise<void> {
    const { object, isDirectory } = await this.#lookUpByListing(path);
    if (isOverwriting && isDirectory && !object) throw new WrongFileTypeError(path.toString(), 'file');
    if (!isOverwriting && (isDirectory || object)) throw new AlreadyExistsError(path.toString());
  }

  #bulk(directory: Path): ObjectBulk {
    return new ObjectBulk(this.#bucket, directory, this.#deleteBatch, () => {
      this.#deleteBatch = 1;
    });
  }

  #lookUp(path: Path): Promise<Found> {
    return this.#do(path, 'status', () => lookUp(this.#bucket, this.#key(path)));
  }

  #lookUpByListing(path: Path): Promise<Found> {
    return this.#do(path, 'status', () => lookUpByListing(this.#bucket, this.#key(path)));
  }

  async #do<T>(path: Path, action: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toFileSystemError(error, path, action);
    }
  }

  #key(path: Path): string {
    if (path.scheme !== this.scheme || path.authority !== this.#authority) {
      throw new InvalidPathError(path.toString(), `it is no path of ${this.scheme}://${this.#authority}`);
    }
    return keyOf(path);
  }
}
