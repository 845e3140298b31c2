/** Files that a command writes: a place that cannot be written to is a failure, not a pointer that does not resolve. */
import { AlreadyExistsError, FileSystemError, IoError, NotFoundError, RefusedError } from '../errors.js';
import type { AtomicOptions, AtomicWriter, FileStatus, FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

/**
 * Prepares a file as `FileSystem.createAtomic` does, but makes nothing, not even its directory, before the first bytes are
 * written: what fails before that leaves no trace.
 * @throws AlreadyExistsError; RefusedError if it is a directory; IoError; UnknownSchemeError
 */
export async function createOutput(
  fileSystems: FileSystems,
  path: Path,
  options: AtomicOptions = {},
): Promise<AtomicWriter> {
  const fileSystem = await fileSystems.get(path);
  const existing = await failing(fileSystem, path, () => statusOf(fileSystem, path));
  if (existing?.type === 'directory') {
    throw new RefusedError(`${path}: is a directory, not the name of a file to write`, { path: path.toString() });
  }
  if (existing && options.overwrite !== true) throw new AlreadyExistsError(path.toString());
  return new OutputFile(fileSystem, path, options);
}

class OutputFile implements AtomicWriter {
  position = 0;
  private started: Promise<AtomicWriter> | undefined;

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly path: Path,
    private readonly options: AtomicOptions,
  ) {}

  write(chunk: Uint8Array): Promise<void> {
    this.position += chunk.byteLength;
    return this.run((writer) => writer.write(chunk));
  }

  patch(position: number, bytes: Uint8Array): Promise<void> {
    return this.run((writer) => writer.patch(position, bytes));
  }

  commit(): Promise<void> {
    return this.run((writer) => writer.commit());
  }

  async abort(): Promise<void> {
    const writer = await this.started?.catch(() => undefined);
    await writer?.abort();
  }

  private run(work: (writer: AtomicWriter) => Promise<void>): Promise<void> {
    this.started ??= this.fileSystem.createAtomic(this.path, this.options);
    const { started } = this;
    return failing(this.fileSystem, this.path, async () => work(await started));
  }
}

async function failing<T>(fileSystem: FileSystem, path: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FileSystemError) || error instanceof IoError) throw error;
    const { lookedUpAt } = error.data;
    const failed = (cause: unknown): IoError =>
      new IoError(path.toString(), 'writing', { cause, ...(typeof lookedUpAt === 'string' && { lookedUpAt }) });
    if (!(error instanceof AlreadyExistsError)) throw failed(error.cause ?? error);
    if (!(await isBlocked(fileSystem, path))) throw error;
    throw failed(new Error('a file stands where one of its directories should be'));
  }
}

/** Undefined if nothing is there. */
async function statusOf(fileSystem: FileSystem, path: Path): Promise<FileStatus | undefined> {
  try {
    return await fileSystem.getFileStatus(path);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** True if what exists already is not the file itself but one in the way of its directory. */
async function isBlocked(fileSystem: FileSystem, path: Path): Promise<boolean> {
  const { parent } = path;
  const status = parent && (await statusOf(fileSystem, parent).catch(() => undefined));
  return parent !== undefined && status?.type !== 'directory';
}
