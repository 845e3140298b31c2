/**
 * The only door to I/O: what `ckpt` needs from a store, after Flink's `org.apache.flink.core.fs.FileSystem`.
 *
 * Every method rejects with a `CkptError` of `errors.ts`, never with a raw error of the store: `NotFoundError` (nothing at
 * the path), `PermissionError`, `WrongFileTypeError`, `AlreadyExistsError`, `DirectoryNotEmptyError`, `IoError` for the
 * rest. The path in an error is the one the caller gave. The contract suite in `test/contract` proves these promises.
 */
import type { Path } from './path.js';

/** What a directory entry or path is. `other` is a device, socket or the like. Links are followed: a dangling one is `other`. */
export type FileType = 'file' | 'directory' | 'other';

/** One child of a listed directory. `size` and `modificationTime` only where the listing gives them for free. */
export interface DirectoryEntry {
  /** Last part of the path, verbatim. */
  readonly name: string;
  readonly type: FileType;
  /** True if the entry itself is a symbolic link (`type` is then that of its target). */
  readonly isLink: boolean;
  /** Bytes, or undefined if the listing does not tell. */
  readonly size: number | undefined;
  /** Milliseconds since the epoch by the store's clock, or undefined if the listing does not tell. */
  readonly modificationTime: number | undefined;
}

/** What is known of one path. */
export interface FileStatus {
  readonly path: Path;
  readonly type: FileType;
  /** True if the path itself is a symbolic link (everything else here describes its target). */
  readonly isLink: boolean;
  /** Bytes of a file, 0 of a directory. */
  readonly size: number;
  /** Last change of the contents: milliseconds since the epoch by the store's clock; 0 if the store keeps none. */
  readonly modificationTime: number;
  /** The newest of all time stamps that the store keeps (local: mtime, ctime, birth), ms since the epoch. */
  readonly newestTime: number;
  /** Names of this very file (hard links); 1 where the store has no such thing. */
  readonly linkCount: number;
  /** Identity of the file within its store (local: device and inode), equal for two names of one file; undefined if none. */
  readonly identity: string | undefined;
}

/** A file of known size. Ranges are half-open: [start, end). */
export interface ByteSource {
  /** Bytes, as of the opening. */
  readonly size: number;
  /** Resolves to exactly end - start bytes, or rejects (`IoError` if the file became shorter); never a short read. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Like `read`, into the caller's buffer at `offset`.
   * @returns when exactly end - start bytes are there
   */
  readInto(target: Uint8Array, offset: number, start: number, end: number, signal?: AbortSignal): Promise<void>;
  /** Frees the handle. Idempotent. Must be called. */
  close(): Promise<void>;
}

/**
 * A file that comes into being only when it is complete: until `commit` resolves nothing is at the final path; after a
 * kill at any instant the path holds either nothing (or the old file) or the whole new one.
 */
export interface AtomicWriter {
  /** Bytes appended so far. */
  readonly position: number;
  /** Appends. The writer does not keep the chunk after the promise resolves. */
  write(chunk: Uint8Array): Promise<void>;
  /** Overwrites bytes that were appended earlier (a count known only at the end). */
  patch(position: number, bytes: Uint8Array): Promise<void>;
  /**
   * Syncs the contents and puts the file in its place, atomically.
   * @throws AlreadyExistsError if the path exists and overwriting was not asked for; nothing is left behind then
   */
  commit(): Promise<void>;
  /** Drops everything written. Idempotent, never throws; no-op after commit. */
  abort(): Promise<void>;
}

/** Options of {@link FileSystem.createAtomic}. */
export interface AtomicOptions {
  /** Replace an existing file (a link: the link itself) at commit; default false. */
  readonly overwrite?: boolean;
  /**
   * Whether `commit` waits until the file would survive a loss of power; default true. False for the many data files of a
   * copy: a kill of the process is no danger to them either way.
   */
  readonly sync?: boolean;
}

/** Flink's `FileSystemKind`. */
export type FileSystemKind = 'file-system' | 'object-store';

/** One store. All paths given to a method must be qualified by {@link FileSystem.qualify}. */
export interface FileSystem {
  /** A store with real directories and rename, or an object store without. */
  readonly kind: FileSystemKind;
  /** Scheme that qualified paths of this store carry, e.g. `file`. */
  readonly scheme: string;

  /** Adds scheme, authority and the working directory where they are missing (Flink's `Path.makeQualified`). No I/O. */
  qualify(path: Path): Path;

  /**
   * Status of a path, links followed.
   * @throws NotFoundError if nothing is there (also for a dangling link)
   */
  getFileStatus(path: Path): Promise<FileStatus>;

  /**
   * Children of a directory in batches, in no particular order, without `.` and `..`. Listing `chk-1` never shows anything
   * of `chk-10`. An entry that vanishes while listing is left out. Memory is bounded by the batch, not by the directory.
   * @throws NotFoundError, WrongFileTypeError (it is a file), PermissionError
   */
  list(directory: Path, signal?: AbortSignal): AsyncIterable<readonly DirectoryEntry[]>;

  /**
   * Opens a file for ranged reads.
   * @throws NotFoundError, WrongFileTypeError (it is a directory), PermissionError
   */
  open(path: Path): Promise<ByteSource>;

  /** The path with all links resolved, for comparing two names of one file. Stores without links return it unchanged. */
  resolveLinks(path: Path): Promise<Path>;

  /**
   * Creates a directory and its parents.
   * @returns true if the last directory was made by this very call, false if it was there already (exactly one of two
   *   concurrent callers gets true)
   * @throws AlreadyExistsError if a file is at the path or in its way
   */
  makeDirectory(path: Path): Promise<boolean>;

  /**
   * Starts a file that appears at `path` only when it is committed. The parent directory is created if missing.
   * @throws AlreadyExistsError if the path exists already (unless `overwrite`)
   */
  createAtomic(path: Path, options?: AtomicOptions): Promise<AtomicWriter>;

  /**
   * Creates a small file with these contents only if nothing is at the path; exactly one of two concurrent callers wins.
   * @throws AlreadyExistsError
   */
  createExclusive(path: Path, contents: Uint8Array): Promise<void>;

  /**
   * Renames a file within the store, atomically.
   * @throws NotFoundError, AlreadyExistsError (something is at `to`), UnsupportedOperationError (object stores)
   */
  rename(from: Path, to: Path): Promise<void>;

  /**
   * Removes a file, or a link itself, never a directory.
   * @returns false if nothing was there
   * @throws WrongFileTypeError for a directory
   */
  deleteFile(path: Path): Promise<boolean>;

  /**
   * Removes an empty directory (never a link to one).
   * @returns false if nothing was there
   * @throws DirectoryNotEmptyError, WrongFileTypeError
   */
  deleteDirectory(path: Path): Promise<boolean>;
}
