import type { FileSystem } from '../../src/filesystem/file-system.js';
import { MemoryFileSystem, type MemoryFileSystemOptions } from '../../src/filesystem/memory.js';
import { Path } from '../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../src/filesystem/registry.js';
import { tempDirectory } from './temp.js';

/** File systems of which one is in memory, for paths like `memory:/a`. */
export interface MemoryStore {
  readonly memory: MemoryFileSystem;
  readonly fileSystems: FileSystems;
}

/** An empty memory file system behind the scheme `memory`. */
export function memoryStore(options: MemoryFileSystemOptions = {}): MemoryStore {
  const memory = new MemoryFileSystem(options);
  const fileSystems = createFileSystems({ configuration: new Map() }, new Map([[memory.scheme, async () => memory]]));
  return { memory, fileSystems };
}

/** An empty place in some store. */
export interface Place {
  readonly fileSystems: FileSystems;
  readonly fileSystem: FileSystem;
  readonly root: Path;
}

/** A new directory of this machine, which goes away with the test. */
export async function localPlace(): Promise<Place> {
  const root = Path.parse(`file:${await tempDirectory()}`);
  const fileSystems = createFileSystems({ configuration: new Map() });
  return { fileSystems, fileSystem: await fileSystems.get(root), root };
}

/** A place on this machine, in memory, and in a store without real directories: what holds for all stores is tested on all. */
export const PLACES: readonly (readonly [string, () => Promise<Place>])[] = [
  ['local', localPlace],
  ['memory', async () => memoryPlace({})],
  ['object store', async () => memoryPlace({ kind: 'object-store' })],
];

function memoryPlace(options: MemoryFileSystemOptions): Place {
  const { memory, fileSystems } = memoryStore(options);
  return { fileSystems, fileSystem: memory, root: Path.parse('memory:/root') };
}

/** Everything below a directory, relative to it, sorted; directories end with a slash. Empty if it is not there. */
export async function treeOf(fileSystem: FileSystem, directory: Path, prefix = ''): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const batch of fileSystem.list(directory)) {
      for (const { name, type, isLink } of batch) {
        if (type !== 'directory' || isLink) names.push(prefix + name);
        else names.push(`${prefix}${name}/`, ...(await treeOf(fileSystem, directory.entry(name), `${prefix}${name}/`)));
      }
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'NOT_FOUND')) throw error;
  }
  return names.sort();
}

/** The contents of a file. */
export async function readFile(fileSystem: FileSystem, path: Path): Promise<Uint8Array> {
  const source = await fileSystem.open(path);
  try {
    return new Uint8Array(await source.read(0, source.size));
  } finally {
    await source.close();
  }
}

/** Writes a file. */
export async function writeFile(
  fileSystem: FileSystem,
  path: Path,
  contents: string | Uint8Array = 'x',
): Promise<void> {
  const writer = await fileSystem.createAtomic(path, { sync: false });
  await writer.write(typeof contents === 'string' ? Buffer.from(contents) : contents);
  await writer.commit();
}

const NOBODY = 65534;

/** Runs `work` as somebody whom permissions bind: nothing is forbidden to root. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return work();
  process.seteuid(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid(0);
  }
}
