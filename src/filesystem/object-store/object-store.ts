/**
 * What an object store must be able to do for `ObjectStoreFileSystem`, which makes a `FileSystem` of it: keys and bytes,
 * nothing about directories. One adapter for each SDK; none of them makes a request twice or several at once by itself, and
 * none knows of paths.
 *
 * Every method rejects with an {@link ObjectStoreError}, or with a `TransientFailure` around one where another attempt may
 * help. Messages name no secret and no signed query.
 */

/** Why a request was refused: what callers tell apart. */
export type ObjectStoreErrorKind =
  /** There is no such object; of a listing or a write: no such bucket. */
  | 'missing'
  /** No, wrong or expired credentials, or not allowed. */
  | 'denied'
  /** A condition does not hold: the object exists already, or is another one by now. */
  | 'precondition'
  /** The store lacks the operation, or this form of it. */
  | 'unsupported'
  | 'other';

/** See the file comment. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
  constructor(
    readonly kind: ObjectStoreErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An object. */
export interface ObjectStatus {
  /** Within the bucket, no slash in front. */
  readonly key: string;
  /** Of the source of a copy: its bucket, if it is another one than that of the store that copies. */
  readonly bucket?: string | undefined;
  /** Bytes. */
  readonly size: number;
  /** Last write by the store's clock, ms since the epoch. */
  readonly modificationTime: number;
  /** Changes with the contents: the ETag, or a generation. Undefined where the store does not tell. */
  readonly version: string | undefined;
  /** The store itself says that this is the marker of a directory, whatever its key. */
  readonly isDirectory?: boolean | undefined;
  /** {@link PutOptions.tag} of its writer; only `head` tells it, and only where the store keeps such things. */
  readonly tag?: string | undefined;
}

/** A part of a listing. */
export interface ObjectPage {
  /** Nearly always in the order of the bytes of their keys; nothing depends on it. */
  readonly objects: readonly ObjectStatus[];
  /** With a delimiter: what keys have in common up to it, which ends each. */
  readonly prefixes: readonly string[];
  /** Undefined at the end. Never undefined on a page that is not the last one: an adapter refuses such an answer. */
  readonly token: string | undefined;
}

/** Options of {@link ObjectStore.list}. */
export interface ListObjectsOptions {
  readonly delimiter?: '/' | undefined;
  /** Of the page before. */
  readonly token?: string | undefined;
  /** Keys on the page; default and most: what the store allows. */
  readonly limit?: number | undefined;
}

/** Options of what writes. */
export interface PutOptions {
  /** Only if there is no object of this key: rejects with `precondition`. */
  readonly ifAbsent?: boolean | undefined;
  /**
   * Kept with the object as user metadata (lower-case hex), so that a writer whose answer was lost on the way recognizes its
   * own object. A store without such metadata ignores it.
   */
  readonly tag?: string | undefined;
}

/** An object that is put together of parts, and there only when they are all together. */
export interface ObjectUpload {
  /** Several at once, in any order; the same one again replaces it. @param number from 1 on */
  putPart(number: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** As `putPart`, of an upload that {@link ObjectStore.startCopy} began: the bytes [start, end) of its source. */
  copyPart?(
    number: number,
    range: { readonly start: number; readonly end: number },
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * @param parts how many there are, numbered without a gap
   * @param options `ifAbsent: false` drops the condition that the upload was begun with, where the store has refused it
   */
  complete(parts: number, options?: { readonly ifAbsent?: false }): Promise<void>;
  /** Never to be completed: frees what was sent. */
  abort(): Promise<void>;
}

/** How far a request of a store goes. */
export interface ObjectStoreLimits {
  /** Keys that one deletion takes; 1 where the store has no batches. */
  readonly deleteBatch: number;
  /** Bytes of the largest object that one request may write. */
  readonly put: number;
  /** Bytes of a part: the least (but for the last one), and the most. */
  readonly leastPart: number;
  readonly mostPart: number;
  /** Parts of one object. */
  readonly parts: number;
  /** Bytes that one copy within the store may have; beyond it `startCopy` copies in parts. */
  readonly copy: number;
}

/** A bucket (Azure: a container). */
export interface ObjectStore {
  readonly limits: ObjectStoreLimits;

  /** True if `ifAbsent` may be passed over in silence by what is there in place of the real store; it is tried out then. */
  readonly mayIgnoreConditions?: boolean;

  /** The service that keeps the bucket: buckets with the same one may copy from each other. Undefined: they cannot. */
  readonly service?: string | undefined;

  /** How far the store's clock is ahead of this machine's, in ms, by the `Date` of an answer: the latest one, or a new one. */
  clockOffset(signal?: AbortSignal): Promise<number>;

  /** Undefined if there is no such object. */
  head(key: string, signal?: AbortSignal): Promise<ObjectStatus | undefined>;

  /** One page of the objects whose keys begin with `prefix`. */
  list(prefix: string, options?: ListObjectsOptions, signal?: AbortSignal): Promise<ObjectPage>;

  /**
   * The bytes [start, end), which lie within the object, put into `target` from `offset` on.
   * @param version if given: rejects with `precondition` if the object is another one by now
   */
  read(
    key: string,
    range: { readonly start: number; readonly end: number; readonly version?: string | undefined },
    target: Uint8Array,
    offset: number,
    signal?: AbortSignal,
  ): Promise<void>;

  /** Writes an object with one request. An `ifAbsent` that the store cannot promise rejects with `unsupported`. */
  put(key: string, bytes: Uint8Array, options?: PutOptions, signal?: AbortSignal): Promise<void>;

  /** Begins an object of parts. With `ifAbsent` the condition is checked by `complete`, which may reject as `put` does. */
  startUpload(key: string, options?: PutOptions): Promise<ObjectUpload>;

  /** Copies an object into the bucket, replacing what is there. Metadata and encryption are kept as the store keeps them. */
  copy(from: ObjectStatus, to: string, signal?: AbortSignal): Promise<void>;

  /** Begins a copy in parts, for objects beyond `limits.copy`; only in stores with such a limit. */
  startCopy?(from: ObjectStatus, to: string): Promise<ObjectUpload>;

  /**
   * Deletes up to `limits.deleteBatch` objects; one that is not there is no failure. Where the store refuses the batch as
   * such, it rejects with `unsupported`, and its keys are deleted one by one.
   * @returns in the order of the keys: undefined where it is gone, else why not (a `TransientFailure` where it may help to
   *   try again)
   */
  delete(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Error | undefined)[]>;
}
