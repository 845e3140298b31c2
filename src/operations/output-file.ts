/** Files that a command writes: a place that cannot be written to is a failure, not a pointer that does not resolve. */
import { AlreadyExistsError, FileSystemError, IoError } from '../errors.js';
import type { AtomicOptions, AtomicWriter } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

async function failing<T>(path: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileSystemError) || error instanceof AlreadyExistsError || error instanceof IoError)
      throw error;
    throw new IoError(path.toString(), 'writing', { cause: error });
  }
}

/**
 * Starts a file as `FileSystem.createAtomic` does.
 * @throws AlreadyExistsError, IoError; UnknownSchemeError
 */
export async function createOutput(
  fileSystems: FileSystems,
  path: Path,
  options: AtomicOptions = {},
): Promise<AtomicWriter> {
  const fileSystem = await fileSystems.get(path);
  const writer = await failing(path, () => fileSystem.createAtomic(path, options));
  return {
    get position() {
      return writer.position;
    },
    write: (chunk) => failing(path, () => writer.write(chunk)),
    patch: (position, bytes) => failing(path, () => writer.patch(position, bytes)),
    commit: () => failing(path, () => writer.commit()),
    abort: () => writer.abort(),
  };
}
