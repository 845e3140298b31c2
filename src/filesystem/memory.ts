/** A file system in memory, for tests of everything above: with failures on demand, a log, and a clock of the test's own. */
import type { CkptError } from '../errors.js';
import {
  AlreadyExistsError,
  DirectoryNotEmptyError,
  InvalidPathError,
  NotFoundError,
  UnsupportedOperationError,
  WrongFileTypeError,
} from '../errors.js';
import { deleteOneByOne, statusOneByOne } from './bulk.js';
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
  FileSystemKind,
} from './file-system.js';
import { MemorySource, MemoryWriter } from './memory-handles.js';
import { MemoryNode } from './memory-node.js';
import { Path } from './path.js';

/** What a {@link MemoryFileSystem} logs and may be told to fail at. `read` to `commit` happen on an open file. */
export type MemoryOperation =
  | 'getFileStatus'
  | 'list'
  | 'open'
  | 'read'
  | 'resolveLinks'
  | 'makeDirectory'
  | 'createAtomic'
  | 'write'
  | 'patch'
  | 'commit'
  | 'createExclusive'
  | 'copyFile'
  | 'rename'
  | 'deleteFile'
  | 'deleteDirectory';

/** Settings of a {@link MemoryFileSystem}. */
export interface MemoryFileSystemOptions {
  /** `object-store`: no rename; a directory is there as long as something is below it, or after `makeDirectory`. */
  readonly kind?: FileSystemKind;
  /** Default `memory`. */
  readonly scheme?: string;
  /** Asked before each operation; an error it returns is what the operation rejects with. */
  readonly failures?: (operation: MemoryOperation, path: Path) => Error | undefined;
  /** Time stamps of what is written, in milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
}

const BATCH = 1000;

/** See the module. Every authority is a store of its own. Links do not exist, but a file may have several names. */
export class MemoryFileSystem implements FileSystem {
  readonly kind: FileSystemKind;
  readonly scheme: string;
  /** Every operation so far, failed ones included, oldest first. A test may empty it. */
  readonly operations: { readonly operation: MemoryOperation; readonly path: string }[] = [];
  readonly #options: MemoryFileSystemOptions;
  readonly #roots = new Map<string | undefined, MemoryNode>();

  constructor(options: MemoryFileSystemOptions = {}) {
    this.kind = options.kind ?? 'file-system';
    this.scheme = options.scheme ?? 'memory';
    this.#options = options;
  }

  /** @throws InvalidPathError for another scheme */
  qualify(path: Path): Path {
    if (path.scheme === this.scheme) return path.tidy;
    if (path.scheme !== undefined) throw new InvalidPathError(path.toString(), `its scheme is not ${this.scheme}`);
    return path.authority === undefined
      ? Path.parse(`${this.scheme}:/`).child(path.path === '' ? '.' : path.tidy.path).tidy
      : Path.verbatim({ scheme: this.scheme, authority: path.authority, path: path.path }).tidy;
  }

  async clockOffset(): Promise<number> {
    return this.#now() - Date.now();
  }

  async getFileStatus(path: Path): Promise<FileStatus> {
    await this.#begin('getFileStatus', path);
    const node = this.#existing(path);
    const file = node.type === 'file' ? node.file : undefined;
    const time = file?.modificationTime ?? node.directoryTime;
    return {
      path,
      type: node.type ?? 'other',
      isLink: false,
      size: file?.bytes.byteLength ?? 0,
      modificationTime: time,
      newestTime: Math.max(time, file?.changeTime ?? 0),
      linkCount: file?.linkCount ?? 1,
      identity: file === undefined ? undefined : String(file.id),
    };
  }

  /** Logged, and failing, as one `getFileStatus` for each. */
  getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]> {
    return statusOneByOne(this, directory, names, signal);
  }

  async *list(directory: Path, signal?: AbortSignal): AsyncGenerator<readonly DirectoryEntry[]> {
    await this.#begin('list', directory, signal);
    const node = this.#existing(directory);
    if (node.type !== 'directory' && node.children.size === 0) {
      throw new WrongFileTypeError(directory.toString(), 'directory');
    }
    const names = [...node.children.keys()];
    for (let start = 0; start < names.length; start += BATCH) {
      signal?.throwIfAborted();
      yield names.slice(start, start + BATCH).flatMap((name) => node.children.get(name)?.entries(name) ?? []);
    }
  }

  async open(path: Path): Promise<ByteSource> {
    await this.#begin('open', path);
    const node = this.#existing(path);
    const { file } = node;
    if (node.type !== 'file' || file === undefined) throw new WrongFileTypeError(path.toString(), 'file');
    return new MemorySource(file, path, (operation, signal) => this.#begin(operation, path, signal));
  }

  async resolveLinks(path: Path): Promise<Path> {
    await this.#begin('resolveLinks', path);
    return path;
  }

  async makeDirectory(path: Path): Promise<boolean> {
    await this.#begin('makeDirectory', path);
    const node = this.#find(path);
    if (node?.type === 'directory') return false;
    if (node?.type === 'file') throw new AlreadyExistsError(path.toString());
    this.#makeDirectories(path, path);
    return true;
  }

  async createAtomic(path: Path, options: AtomicOptions = {}): Promise<AtomicWriter> {
    await this.#begin('createAtomic', path);
    this.#checkFree(path, options);
    if (this.kind === 'file-system') this.#makeDirectories(path.parent ?? path, path);
    const begin = (operation: MemoryOperation) => this.#begin(operation, path);
    return new MemoryWriter(path, begin, (contents) => this.#put(path, contents, options));
  }

  async createExclusive(path: Path, contents: Uint8Array): Promise<void> {
    await this.#begin('createExclusive', path);
    this.#put(path, contents.slice(), {});
  }

  async copyFile(from: Path, to: Path): Promise<void> {
    await this.#begin('copyFile', from);
    const node = this.#existing(from);
    if (node.file === undefined) throw new WrongFileTypeError(from.toString(), 'file');
    this.put(to, node.file.bytes.slice());
  }

  async rename(from: Path, to: Path): Promise<void> {
    await this.#begin('rename', from);
    if (this.kind === 'object-store') throw new UnsupportedOperationError(from.toString(), 'rename');
    const node = this.#existing(from);
    const { file } = node;
    if (file === undefined) throw new WrongFileTypeError(from.toString(), 'file');
    if (this.#find(to) !== undefined) throw new AlreadyExistsError(to.toString());
    const parent = this.#find(to.parent ?? to);
    if (parent?.type !== 'directory') throw new NotFoundError(to.toString());
    parent.child(to.name, this.#now()).file = file;
    file.changeTime = this.#now();
    node.file = undefined;
    this.#prune(from);
  }

  async deleteFile(path: Path): Promise<boolean> {
    await this.#begin('deleteFile', path);
    const node = this.#find(path);
    if (node === undefined) return false;
    if (node.file === undefined) throw new WrongFileTypeError(path.toString(), 'file');
    node.file.linkCount -= 1;
    node.file = undefined;
    this.#prune(path);
    return true;
  }

  /** Logged, and failing, as one `deleteFile` for each. */
  deleteFiles(
    directory: Path,
    names: readonly string[],
    options?: BulkDeletionOptions,
  ): Promise<readonly BulkDeletion[]> {
    return deleteOneByOne(this, directory, names, options);
  }

  async deleteDirectory(path: Path): Promise<boolean> {
    await this.#begin('deleteDirectory', path);
    const node = this.#find(path);
    if (node === undefined) return false;
    if (node.type === 'file') throw new WrongFileTypeError(path.toString(), 'directory');
    if (node.children.size > 0) throw new DirectoryNotEmptyError(path.toString());
    node.isDirectory = false;
    this.#prune(path);
    return true;
  }

  /** Test set-up, neither logged nor failing: a file with these contents and, if given, this age. Replaces what is there. */
  put(path: Path, contents: Uint8Array | string, modificationTime = this.#now()): void {
    const file = this.#put(path, typeof contents === 'string' ? new TextEncoder().encode(contents) : contents, {
      overwrite: true,
    });
    file.modificationTime = modificationTime;
    file.changeTime = modificationTime;
  }

  /** Test set-up: gives an existing file a second name. */
  link(existing: Path, name: Path): void {
    const { file } = this.#existing(existing);
    if (file === undefined) throw new WrongFileTypeError(existing.toString(), 'file');
    this.#makeDirectories(name.parent ?? name, name);
    this.#node(name).file = file;
    file.linkCount += 1;
  }

  /** Test set-up: shortens a file behind the backs of its readers. */
  truncate(path: Path, size: number): void {
    const { file } = this.#existing(path);
    if (file !== undefined) file.bytes = file.bytes.slice(0, size);
  }

  /** The contents of every file by its printed path, in order of the paths: to compare whole states. */
  snapshot(): ReadonlyMap<string, Uint8Array> {
    const files = [...this.#roots].flatMap(([authority, root]) =>
      root.files(Path.verbatim({ scheme: this.scheme, authority, path: '/' })),
    );
    return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async #begin(operation: MemoryOperation, path: Path, signal?: AbortSignal): Promise<void> {
    this.operations.push({ operation, path: path.toString() });
    const failure = this.#options.failures?.(operation, path);
    // Like a real store: never done within the call itself, so that callers meet each other.
    await Promise.resolve();
    signal?.throwIfAborted();
    if (failure !== undefined) throw failure;
  }

  #now(): number {
    return (this.#options.clock ?? Date.now)();
  }

  #root(path: Path): MemoryNode {
    if (path.scheme !== this.scheme) throw new InvalidPathError(path.toString(), 'it is not qualified');
    const root = this.#roots.get(path.authority) ?? new MemoryNode(this.kind, this.#now());
    root.isDirectory = true;
    this.#roots.set(path.authority, root);
    return root;
  }

  #find(path: Path): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root(path);
    for (const name of namesOf(path)) node = node?.children.get(name);
    return node?.type === undefined ? undefined : node;
  }

  #existing(path: Path): MemoryNode {
    const node = this.#find(path);
    if (node === undefined) throw new NotFoundError(path.toString());
    return node;
  }

  #node(path: Path): MemoryNode {
    return namesOf(path).reduce((node, name) => node.child(name, this.#now()), this.#root(path));
  }

  #makeDirectories(path: Path, shown: Path): void {
    let node = this.#root(path);
    for (const name of namesOf(path)) {
      node = node.child(name, this.#now());
      // In an object store an object is in nobody's way, and only the last directory leaves a trace of its own.
      if (this.kind === 'object-store') continue;
      if (node.file !== undefined) throw new AlreadyExistsError(shown.toString());
      node.isDirectory = true;
    }
    node.isDirectory ||= path === shown;
  }

  #checkFree(path: Path, options: AtomicOptions): void {
    const node = this.#find(path);
    if (node !== undefined && options.overwrite !== true) throw new AlreadyExistsError(path.toString());
    if (node?.type === 'directory' && node.file === undefined) throw new WrongFileTypeError(path.toString(), 'file');
  }

  #put(path: Path, contents: Uint8Array, options: AtomicOptions): NonNullable<MemoryNode['file']> {
    this.#checkFree(path, options);
    this.#makeDirectories(path.parent ?? path, path);
    return this.#node(path).setFile(contents, this.#now());
  }

  /** Forgets a node that is nothing any more, and in an object store the directories that only it kept alive. */
  #prune(path: Path): void {
    const names = namesOf(path);
    for (let depth = names.length; depth > 0; depth--) {
      const parent = names
        .slice(0, depth - 1)
        .reduce<MemoryNode | undefined>((n, x) => n?.children.get(x), this.#root(path));
      const name = names[depth - 1] ?? '';
      if (parent?.children.get(name)?.type !== undefined) return;
      parent?.children.delete(name);
    }
  }
}

function namesOf(path: Path): string[] {
  return path.path.split('/').filter((name) => name !== '');
}
