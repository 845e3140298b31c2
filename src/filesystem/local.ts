/**
 * The local file system, after Flink's `org.apache.flink.core.fs.local.LocalFileSystem`. Reading changes nothing: the
 * access time of files stays where the system lets this user ask for that; that of directories is up to the mount options.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import type { CkptError } from '../errors.js';
import { AlreadyExistsError, DirectoryNotEmptyError, NotFoundError, WrongFileTypeError } from '../errors.js';
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
} from './file-system.js';
import { deleteLocalFiles, statusLocalFiles } from './local-bulk.js';
import { copyLocalFile } from './local-copy.js';
import { makeLocalDirectory } from './local-directory.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { fileTypeOf, listLocal } from './local-listing.js';
import { currentDirectory, fromNativeName, qualifyLocal, toNativePath } from './local-path.js';
import type { HardLinks } from './local-publish.js';
import { moveWithoutReplacing, nativeParent, syncDirectory } from './local-publish.js';
import { openLocal } from './local-source.js';
import { startLocalFile } from './local-writer.js';
import { Path } from './path.js';

/** In nanoseconds. */
const SECOND = 1_000_000_000n;

/** Settings of a {@link LocalFileSystem}. */
export interface LocalFileSystemOptions {
  /** Where relative paths start, absolute and with slashes; default: the working directory of the process. */
  readonly workingDirectory?: string;
  /** Default `use`: hard links where the store has them, which makes creating without overwriting safe against everybody. */
  readonly hardLinks?: HardLinks;
}

/** Files of this machine, scheme `file`. */
export class LocalFileSystem implements FileSystem {
  readonly kind = 'file-system';
  readonly scheme = 'file';
  readonly #workingDirectory: string;
  readonly #hardLinks: HardLinks;

  constructor(options: LocalFileSystemOptions = {}) {
    this.#workingDirectory = options.workingDirectory ?? currentDirectory();
    this.#hardLinks = options.hardLinks ?? 'use';
  }

  /** @throws InvalidPathError for another scheme, or a host (`file://host/a`) */
  qualify(path: Path): Path {
    return qualifyLocal(path, this.#workingDirectory);
  }

  async clockOffset(): Promise<number> {
    return 0;
  }

  async getFileStatus(path: Path): Promise<FileStatus> {
    try {
      const native = toNativePath(path);
      const own = await lstat(native, { bigint: true });
      const isLink = own.isSymbolicLink();
      return describe(path, isLink ? await stat(native, { bigint: true }) : own, isLink);
    } catch (error) {
      throw fromErrno(error, path, 'status');
    }
  }

  getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]> {
    return statusLocalFiles(directory, names, signal);
  }

  list(directory: Path, signal?: AbortSignal): AsyncIterable<readonly DirectoryEntry[]> {
    return listLocal(directory, signal);
  }

  open(path: Path): Promise<ByteSource> {
    return openLocal(path);
  }

  async resolveLinks(path: Path): Promise<Path> {
    try {
      const resolved = await realpath(toNativePath(path), { encoding: 'buffer' });
      return Path.verbatim({ scheme: 'file', path: fromNativeName(resolved) });
    } catch (error) {
      throw fromErrno(error, path, 'resolving links');
    }
  }

  async makeDirectory(path: Path): Promise<boolean> {
    return makeDirectory(toNativePath(path), path);
  }

  async createAtomic(path: Path, options: AtomicOptions = {}): Promise<AtomicWriter> {
    const existing = await lookAt(path);
    if (existing !== undefined && options.overwrite !== true) throw new AlreadyExistsError(path.toString());
    if (existing?.isDirectory()) throw new WrongFileTypeError(path.toString(), 'file');
    try {
      return await startLocalFile(path, options, this.#hardLinks);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await makeDirectory(nativeParent(toNativePath(path)), path);
      return startLocalFile(path, options, this.#hardLinks);
    }
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

  copyFile(from: Path, to: Path, options?: { readonly sync?: boolean }): Promise<void> {
    return copyLocalFile(from, to, options);
  }

  async rename(from: Path, to: Path): Promise<void> {
    const status = await lookAt(from);
    if (status === undefined) throw new NotFoundError(from.toString());
    if (status.isDirectory()) throw new WrongFileTypeError(from.toString(), 'file');
    const source = { native: toNativePath(from), path: from };
    const target = { native: toNativePath(to), path: to };
    try {
      // Some systems would link to what a link leads to, not to the link.
      await moveWithoutReplacing(source, target, status.isSymbolicLink() ? 'avoid' : this.#hardLinks);
    } catch (error) {
      const hasVanished = error instanceof NotFoundError && (await lookAt(from)) === undefined;
      throw hasVanished ? new NotFoundError(from.toString(), { cause: error }) : error;
    }
    try {
      await syncDirectory(nativeParent(target.native));
      const isWithin = from.parent !== undefined && to.parent !== undefined && from.parent.equals(to.parent);
      if (!isWithin) await syncDirectory(nativeParent(source.native));
    } catch (error) {
      throw fromErrno(error, to, 'sync of the directory');
    }
  }

  deleteFile(path: Path): Promise<boolean> {
    return remove(path, 'file', unlink);
  }

  deleteFiles(
    directory: Path,
    names: readonly string[],
    options: BulkDeletionOptions = {},
  ): Promise<readonly BulkDeletion[]> {
    return deleteLocalFiles(directory, names, options, (path, error) => explainRemoval(path, 'file', error));
  }

  deleteDirectory(path: Path): Promise<boolean> {
    return remove(path, 'directory', rmdir);
  }
}

function describe(path: Path, status: BigIntStats, isLink: boolean): FileStatus {
  const type = fileTypeOf(status);
  return {
    path,
    type,
    isLink,
    size: type === 'file' ? Number(status.size) : 0,
    modificationTime: toMilliseconds(status.mtimeNs),
    newestTime: Math.max(...[status.mtimeNs, status.ctimeNs, status.birthtimeNs].map(toMilliseconds)),
    linkCount: Number(status.nlink),
    identity: `${status.dev}:${status.ino}`,
  };
}

/**
 * Nanoseconds as the milliseconds that a `Stats` without bigints has: the same arithmetic, so that two looks at one file agree
 * whichever way they went. (In the last few hundred nanoseconds of a millisecond it rounds up.)
 */
function toMilliseconds(nanoseconds: bigint): number {
  const rest = ((nanoseconds % SECOND) + SECOND) % SECOND;
  const seconds = (nanoseconds - rest) / SECOND;
  return Math.floor(Number(seconds) * 1000 + Number(rest) / 1e6);
}

/** The status of the path itself, or undefined if nothing is there. */
async function lookAt(path: Path): Promise<BigIntStats | undefined> {
  try {
    return await lstat(toNativePath(path), { bigint: true });
  } catch (error) {
    const ours = fromErrno(error, path, 'status');
    if (ours instanceof NotFoundError) return undefined;
    throw ours;
  }
}

/** Makes a directory for the sake of `path`, which is it or lies in it. */
async function makeDirectory(native: string | Buffer, path: Path): Promise<boolean> {
  try {
    return await makeLocalDirectory(native);
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') throw new AlreadyExistsError(path.toString(), { cause: error });
    throw fromErrno(error, path, 'create of the directory');
  }
}

async function remove(
  path: Path,
  expected: 'file' | 'directory',
  call: (native: string | Buffer) => Promise<void>,
): Promise<boolean> {
  try {
    await call(toNativePath(path));
    return true;
  } catch (error) {
    return explainRemoval(path, expected, error);
  }
}

/**
 * What it means that a removal failed.
 * @returns false if nothing is there
 */
async function explainRemoval(path: Path, expected: 'file' | 'directory', error: unknown): Promise<boolean> {
  if (errnoOf(error) === 'ENOENT') return false;
  // Systems differ in what they say of the wrong type, and of a file among the parents.
  const found = await lookAt(path).catch(() => undefined);
  const ours = fromErrno(error, path, 'delete');
  if (found === undefined && ours instanceof NotFoundError) return false;
  if (found !== undefined && found.isDirectory() !== (expected === 'directory')) {
    throw new WrongFileTypeError(path.toString(), expected, { cause: error });
  }
  throw ours instanceof AlreadyExistsError ? new DirectoryNotEmptyError(path.toString(), { cause: error }) : ours;
}
