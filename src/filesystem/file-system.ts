/**
 * The only door to I/O: what `ckpt` needs from a store, after Flink's `org.apache.flink.core.fs.FileSystem`.
 *
 * Every method rejects with a `CkptError` of `errors.ts`, never with a raw error of the store: `NotFoundError` (nothing at
 * the path), `PermissionError`, `WrongFileTypeError`, `AlreadyExistsError`, `DirectoryNotEmptyError`, `IoError` for the
 * rest. The path in an error is the one the caller gave. An aborted operation rejects with the reason of its signal, and a
 * range that is none with a `RangeError`, which is a mistake of the caller. The contract suite in `test/contract` proves
 * these promises.
 */
import type { CkptError } from '../errors.js';
import type { Path } from './path.js';

/** What a directory entry or path is. `other` is a device, socket or the like. Links are followed: a dangling one is `other`. */
export type FileType = 'file' | 'directory' | 'other';

/** One child of a listed directory. `size` and `modificationTime` only where the listing gives them for free. */
export interface DirectoryEntry {
  /**
   * Last part of the path, verbatim: it may hold a backslash, a colon or half a character. Append it with `Path.entry`,
   * never with `Path.child`. An object store may have an object and a directory of one name, which are two entries.
   */
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

/** What is known of an entry of a directory itself: a link is not followed, so everything here describes the link. */
export interface EntryStatus {
  readonly type: FileType | 'link';
  /** Bytes of a file, 0 of anything else. */
  readonly size: number;
  /** As in {@link FileStatus}. */
  readonly modificationTime: number;
  /** As in {@link FileStatus}. */
  readonly newestTime: number;
  /** As in {@link FileStatus}. */
  readonly linkCount: number;
}

/**
 * What became of one of many files that were to be deleted: true deleted, false nothing was there, undefined not even tried
 * because the signal was aborted, else why it could not be done.
 */
export type BulkDeletion = boolean | CkptError | undefined;

/** Options of {@link FileSystem.deleteFiles}. */
export interface BulkDeletionOptions {
  /**
   * Identity of the directory (of its {@link FileStatus}) when it was decided what to delete in it: a directory that is
   * another one by now, right before a removal, loses nothing. Ignored by stores without identities.
   */
  readonly identity?: string | undefined;
  /** Stops at a safe point: what has begun is finished, and told of. */
  readonly signal?: AbortSignal | undefined;
}

/** A file of known size. Ranges are half-open: [start, end). */
export interface ByteSource {
  /** Bytes, as of the opening. */
  readonly size: number;
  /**
   * Resolves to exactly end - start bytes, or rejects (`IoError` if the file became shorter; on an object store also if it
   * was replaced by another one); never a short read.
   */
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
  /**
   * Appends. The writer does not keep the chunk after the promise resolves. Give it tens of kilobytes at once, it does not
   * collect small chunks. After a failure nothing more can be written or committed, only aborted.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Overwrites bytes that were appended earlier (a count known only at the end). */
  patch(position: number, bytes: Uint8Array): Promise<void>;
  /**
   * Syncs the contents and puts the file in its place, atomically. If it rejects, nothing is left behind and `abort` is not
   * needed; only if the very last step fails, the sync of the directory, the file is there although this rejects.
   * @throws AlreadyExistsError if the path exists and overwriting was not asked for; of several writers one succeeds
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
  /**
   * How many bytes will be appended, none of which will be patched: a remote store then sends them as they come, instead of
   * collecting them until the commit. Ignored by others. With more or less bytes the file still has what was written.
   */
  readonly size?: number;
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
   * How far the clock that stamps the files at a path is ahead of the clock of this machine, in ms; negative if it is behind.
   * 0 for a local file system. A remote store tells with its answers; it may take a request, and is no more exact than they
   * are (a second). Nothing need be at the path.
   */
  clockOffset(path: Path, signal?: AbortSignal): Promise<number>;

  /**
   * Status of a path, links followed.
   * @throws NotFoundError if nothing is there (also for a dangling link)
   */
  getFileStatus(path: Path): Promise<FileStatus>;

  /**
   * Statuses of many entries of one directory, in the order of the names: quicker than one call for each, and no more than a
   * bounded number of requests at once. Undefined where nothing is (all of them if the directory is not there), an error
   * where one name could not be looked at. Never rejects but for an abort.
   * @param names as {@link DirectoryEntry.name}
   */
  getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]>;

  /**
   * Children of a directory in batches, in no particular order, without `.` and `..`. Listing `chk-1` never shows anything
   * of `chk-10`. An entry that vanishes while listing is left out. Memory is bounded by the batch, not by the directory.
   * @throws NotFoundError, WrongFileTypeError (it is a file), PermissionError
   */
  list(directory: Path, signal?: AbortSignal): AsyncIterable<readonly DirectoryEntry[]>;

  /**
   * Opens a file for ranged reads.
   * @throws NotFoundError, WrongFileTypeError (a directory, pipe or device), PermissionError
   */
  open(path: Path): Promise<ByteSource>;

  /**
   * The path with all links resolved, for comparing two names of one file, and for nothing else: with a mapping it is no name
   * that this file system takes. Stores without links return it unchanged, without a look at what is there.
   * @throws NotFoundError if there are links in this store and nothing is at the path
   */
  resolveLinks(path: Path): Promise<Path>;

  /**
   * Creates a directory and its parents.
   * @returns true if the last directory was made by this very call, false if it was there already (exactly one of two
   *   concurrent callers gets true)
   * @throws AlreadyExistsError if a file is at the path, or in its way in a store with real directories
   */
  makeDirectory(path: Path): Promise<boolean>;

  /**
   * Starts a file that appears at `path` only when it is committed. The parent directory is created if missing.
   * @throws AlreadyExistsError if the path exists already (unless `overwrite`), be it a dangling link; WrongFileTypeError if
   *   a directory is to be overwritten
   */
  createAtomic(path: Path, options?: AtomicOptions): Promise<AtomicWriter>;

  /**
   * Creates a small file with these contents only if nothing is at the path; exactly one of two concurrent callers wins.
   * The parent directory is created if missing. Durable when it resolves.
   * @throws AlreadyExistsError
   */
  createExclusive(path: Path, contents: Uint8Array): Promise<void>;

  /**
   * Renames a file, or a link itself, within the store. Never replaces anything; of several callers one succeeds. The new
   * name is there at once with the whole file; after a kill the file may have both names.
   * @throws NotFoundError (nothing at `from`, or no directory for `to`), AlreadyExistsError (something is at `to`),
   *   WrongFileTypeError (`from` is a directory), UnsupportedOperationError (object stores)
   */
  rename(from: Path, to: Path): Promise<void>;

  /**
   * Copies the contents of a file within the store, by the store itself where it can. Not atomic: after a failure `to` may
   * hold a part. Its directory must exist; a file that is there is replaced.
   * @param options `sync`: do not resolve before the copy would survive a loss of power; default false
   * @throws NotFoundError, WrongFileTypeError, UnsupportedOperationError (the store cannot copy from the one place to the other)
   */
  copyFile(from: Path, to: Path, options?: { readonly sync?: boolean }): Promise<void>;

  /**
   * Removes a file, or a link itself, never a directory.
   * @returns false if nothing was there
   * @throws WrongFileTypeError for a directory
   */
  deleteFile(path: Path): Promise<boolean>;

  /**
   * Removes many files, or links, of one directory, in no particular order: quicker than one call for each, and no more than a
   * bounded number of requests at once. A failure stops nothing. Never rejects.
   * @param names as {@link DirectoryEntry.name}
   * @returns what became of each, in the order of the names
   */
  deleteFiles(
    directory: Path,
    names: readonly string[],
    options?: BulkDeletionOptions,
  ): Promise<readonly BulkDeletion[]>;

  /**
   * Removes an empty directory (never a link to one).
   * @returns false if nothing was there
   * @throws DirectoryNotEmptyError, WrongFileTypeError
   */
  deleteDirectory(path: Path): Promise<boolean>;
}
