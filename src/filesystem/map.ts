/**
 * File systems whose paths are names: what a mapping gives another place is looked up there, everything else where its name
 * says. Whoever works with them sees names only, as the metadata has them; an error tells both.
 */
import type { CkptError, FileSystemErrorOptions } from '../errors.js';
import {
  AlreadyExistsError,
  CkptError as CkptErrorClass,
  DirectoryNotEmptyError,
  FileSystemError,
  IoError,
  NotFoundError,
  PermissionError,
  UnsupportedOperationError,
  WrongFileTypeError,
} from '../errors.js';
import { asCkptError } from './bulk.js';
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
import type { Path } from './path.js';
import type { PathMapping } from './path-mapping.js';
import type { FileSystems } from './registry.js';

/** Lays a mapping over file systems. With an empty mapping they are returned as they are. */
export function mapFileSystems(systems: FileSystems, mapping: PathMapping): FileSystems {
  return mapping.isEmpty ? systems : new MappedFileSystems(systems, mapping);
}

class MappedFileSystems implements FileSystems {
  constructor(
    private readonly systems: FileSystems,
    private readonly mapping: PathMapping,
  ) {}

  get schemes(): readonly string[] {
    return this.systems.schemes;
  }

  qualify(path: Path): Path {
    return this.systems.qualify(path);
  }

  lookUp(path: Path): Path {
    return this.systems.lookUp(this.mapping.toReal(this.qualify(path)));
  }

  nameOf(path: Path): Path {
    const qualified = this.qualify(path);
    if (!this.mapping.toReal(qualified).equals(qualified)) return qualified;
    return this.mapping.toNamed(qualified) ?? qualified;
  }

  async get(path: Path): Promise<FileSystem> {
    const { scheme = 'file' } = this.qualify(path);
    const anchor = await this.systems.get(this.lookUp(path));
    return new MappedFileSystem(this.systems, (named) => this.lookUp(named), scheme, anchor.kind);
  }
}

/**
 * Takes names of any scheme: each is looked up in the file system that it is mapped to. `kind` is that of the path for which
 * this file system was asked.
 */
class MappedFileSystem implements FileSystem {
  constructor(
    private readonly systems: FileSystems,
    private readonly lookUp: (named: Path) => Path,
    readonly scheme: string,
    readonly kind: FileSystemKind,
  ) {}

  qualify(path: Path): Path {
    return this.systems.qualify(path);
  }

  clockOffset(path: Path, signal?: AbortSignal): Promise<number> {
    return this.#at(path, (system, real) => system.clockOffset(real, signal));
  }

  async getFileStatus(path: Path): Promise<FileStatus> {
    const status = await this.#at(path, (system, real) => system.getFileStatus(real));
    return { ...status, path };
  }

  getFileStatuses(
    directory: Path,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (EntryStatus | CkptError | undefined)[]> {
    return this.#inBulk(directory, names, (system, real, realNames) => system.getFileStatuses(real, realNames, signal));
  }

  async *list(directory: Path, signal?: AbortSignal): AsyncGenerator<readonly DirectoryEntry[]> {
    const real = this.lookUp(directory);
    const system = await this.systems.get(real);
    try {
      yield* system.list(real, signal);
    } catch (error) {
      throw named(error, directory, real);
    }
  }

  async open(path: Path): Promise<ByteSource> {
    const source = await this.#at(path, (system, real) => system.open(real));
    const inside = <T>(work: () => Promise<T>) => naming(path, this.lookUp(path), work);
    return {
      size: source.size,
      read: (start, end, signal) => inside(() => source.read(start, end, signal)),
      readInto: (target, offset, start, end, signal) =>
        inside(() => source.readInto(target, offset, start, end, signal)),
      close: () => inside(() => source.close()),
    };
  }

  /** A real path, not a name: two names of one file give the same one. For comparing only, nothing here takes it. */
  resolveLinks(path: Path): Promise<Path> {
    return this.#at(path, (system, real) => system.resolveLinks(real));
  }

  makeDirectory(path: Path): Promise<boolean> {
    return this.#at(path, (system, real) => system.makeDirectory(real));
  }

  async createAtomic(path: Path, options?: AtomicOptions): Promise<AtomicWriter> {
    const writer = await this.#at(path, (system, real) => system.createAtomic(real, options));
    const inside = <T>(work: () => Promise<T>) => naming(path, this.lookUp(path), work);
    return {
      get position() {
        return writer.position;
      },
      write: (chunk) => inside(() => writer.write(chunk)),
      patch: (position, bytes) => inside(() => writer.patch(position, bytes)),
      commit: () => inside(() => writer.commit()),
      abort: () => writer.abort(),
    };
  }

  createExclusive(path: Path, contents: Uint8Array): Promise<void> {
    return this.#at(path, (system, real) => system.createExclusive(real, contents));
  }

  async copyFile(from: Path, to: Path, options?: { readonly sync?: boolean }): Promise<void> {
    const target = this.lookUp(to);
    await this.#at(from, async (system, real) => {
      if (target.scheme !== real.scheme) {
        throw new UnsupportedOperationError(real.toString(), 'a copy to another file system');
      }
      try {
        await system.copyFile(real, target, options);
      } catch (error) {
        // Either path may be the one that it is about.
        throw error instanceof FileSystemError && error.data.path === target.toString()
          ? named(error, to, target)
          : error;
      }
    });
  }

  async rename(from: Path, to: Path): Promise<void> {
    const target = this.lookUp(to);
    await this.#at(from, async (system, real) => {
      if ((await this.systems.get(target)) !== system) {
        throw new UnsupportedOperationError(real.toString(), 'rename to another file system');
      }
      try {
        await system.rename(real, target);
      } catch (error) {
        // Either path may be the one that it is about.
        throw error instanceof FileSystemError && error.data.path === target.toString()
          ? named(error, to, target)
          : error;
      }
    });
  }

  deleteFile(path: Path): Promise<boolean> {
    return this.#at(path, (system, real) => system.deleteFile(real));
  }

  deleteFiles(
    directory: Path,
    names: readonly string[],
    options: BulkDeletionOptions = {},
  ): Promise<readonly BulkDeletion[]> {
    const own = this.lookUp(directory);
    const { identity: _, ...elsewhere } = options;
    return this.#inBulk(directory, names, (system, real, realNames) =>
      system.deleteFiles(real, realNames, real.equals(own) ? options : elsewhere),
    );
  }

  deleteDirectory(path: Path): Promise<boolean> {
    return this.#at(path, (system, real) => system.deleteDirectory(real));
  }

  /** One call for each real directory, nearly always one in all: an entry of its own may be mapped to another place. */
  async #inBulk<T>(
    directory: Path,
    names: readonly string[],
    work: (system: FileSystem, real: Path, realNames: readonly string[]) => Promise<readonly T[]>,
  ): Promise<(T | CkptError)[]> {
    const groups = new Map<string, { real: Path; indexes: number[]; realNames: string[] }>();
    const results: (T | CkptError)[] = new Array(names.length);
    for (const [index, name] of names.entries()) {
      try {
        const place = this.lookUp(directory.entry(name));
        const real = place.parent ?? place;
        const key = real.toString();
        const group = groups.get(key) ?? { real, indexes: [], realNames: [] };
        groups.set(key, group);
        group.indexes.push(index);
        group.realNames.push(place.name);
      } catch (error) {
        results[index] = asCkptError(error, directory, 'access');
      }
    }
    for (const { real, indexes, realNames } of groups.values()) {
      const found = await this.#workOn(real, realNames, work);
      for (const [position, index] of indexes.entries()) {
        const result = found[position] as T;
        const path = () => directory.entry(names[index] ?? '');
        results[index] = (
          result instanceof CkptErrorClass ? named(result, path(), real.entry(realNames[position] ?? '')) : result
        ) as T;
      }
    }
    return results;
  }

  async #workOn<T>(
    real: Path,
    realNames: readonly string[],
    work: (system: FileSystem, real: Path, realNames: readonly string[]) => Promise<readonly T[]>,
  ): Promise<readonly (T | CkptError)[]> {
    let system: FileSystem;
    try {
      system = await this.systems.get(real);
    } catch (error) {
      return realNames.map(() => asCkptError(error, real, 'access'));
    }
    return work(system, real, realNames);
  }

  async #at<T>(path: Path, work: (system: FileSystem, real: Path) => Promise<T>): Promise<T> {
    const real = this.lookUp(path);
    const system = await this.systems.get(real);
    return naming(path, real, () => work(system, real));
  }
}

async function naming<T>(path: Path, real: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw named(error, path, real);
  }
}

/** The same error by the name that the caller knows, with the place where it was looked up. */
function named(error: unknown, path: Path, real: Path): unknown {
  if (!(error instanceof FileSystemError) || path.equals(real) || error.data.path !== real.toString()) return error;
  const renamed = rename(error, path.toString(), {
    ...(error.cause !== undefined && { cause: error.cause }),
    lookedUpAt: real.toString(),
  });
  renamed.suppressed.push(...error.suppressed);
  return renamed;
}

function rename(error: FileSystemError, name: string, options: FileSystemErrorOptions): FileSystemError {
  if (error instanceof NotFoundError) return new NotFoundError(name, options);
  if (error instanceof PermissionError) return new PermissionError(name, options);
  if (error instanceof AlreadyExistsError) return new AlreadyExistsError(name, options);
  if (error instanceof DirectoryNotEmptyError) return new DirectoryNotEmptyError(name, options);
  if (error instanceof WrongFileTypeError) {
    return new WrongFileTypeError(name, error.data.expected === 'directory' ? 'directory' : 'file', options);
  }
  if (error instanceof UnsupportedOperationError) {
    return new UnsupportedOperationError(name, String(error.data.what), options);
  }
  return new IoError(name, String(error.data.action ?? 'access'), options);
}
