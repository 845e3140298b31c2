/** Deleting the way Flink's `FileSystem.delete` does, plain and recursive, on stores that know only single deletions. */
import { asError, DirectoryNotEmptyError, firstOrSuppressed, NotFoundError, WrongFileTypeError } from '../errors.js';
import type { DirectoryEntry, FileStatus, FileSystem } from '../filesystem/file-system.js';
import { type ConcurrencyOptions, forEachConcurrently } from '../filesystem/limit.js';
import type { Path } from '../filesystem/path.js';

/** How often a directory that is not empty after all is listed again: others may still be writing to it. */
const PASSES = 5;

/**
 * Deletes one file, or an empty directory in its place. What is gone afterwards counts as deleted, whoever deleted it.
 * Origin: Flink `FileStateHandle.discardState`.
 * @throws DirectoryNotEmptyError; other errors of the file system
 */
export async function deleteFileOrEmptyDirectory(fileSystem: FileSystem, path: Path): Promise<void> {
  try {
    try {
      await fileSystem.deleteFile(path);
    } catch (error) {
      if (!(error instanceof WrongFileTypeError)) throw error;
      await fileSystem.deleteDirectory(path);
    }
  } catch (error) {
    if (!(await isGone(fileSystem, path))) throw error;
  }
}

/** False also where nobody can tell: then nobody may say that the file is deleted. */
async function isGone(fileSystem: FileSystem, path: Path): Promise<boolean> {
  return fileSystem.getFileStatus(path).then(
    () => false,
    (error: unknown) => error instanceof NotFoundError,
  );
}

/**
 * Deletes a directory with everything in it, or a file. Links are removed and never followed. A failure stops nothing but
 * the removal of the directories above it; that nothing is there is no failure.
 * @throws the first error of the file system, the later ones as its suppressed ones; the reason of the signal
 */
export async function deleteRecursively(
  fileSystem: FileSystem,
  path: Path,
  options: ConcurrencyOptions = {},
): Promise<void> {
  const deletion = new RecursiveDeletion(fileSystem, options);
  await deletion.delete(path);
  options.signal?.throwIfAborted();
  if (deletion.failure !== undefined) throw deletion.failure;
}

class RecursiveDeletion {
  failure: Error | undefined;
  #failures = 0;

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly options: ConcurrencyOptions,
  ) {}

  async delete(path: Path): Promise<void> {
    // Looked at right before: what was a directory when it was listed may be a link to one by now.
    const status = await this.#attempt(() => this.#status(path));
    if (status === 'failed') return;
    if (status?.type === 'directory' && !status.isLink) await this.#deleteDirectory(path);
    else await this.#attempt(() => this.fileSystem.deleteFile(path));
  }

  async #status(path: Path): Promise<FileStatus | undefined> {
    try {
      return await this.fileSystem.getFileStatus(path);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #deleteDirectory(directory: Path): Promise<void> {
    const failuresBefore = this.#failures;
    for (let pass = 1; ; pass++) {
      await this.#deleteContents(directory);
      if (this.#failures > failuresBefore || this.options.signal?.aborted === true) return;
      try {
        await this.fileSystem.deleteDirectory(directory);
        return;
      } catch (error) {
        if (!(error instanceof DirectoryNotEmptyError) || pass === PASSES) return this.#fail(error);
      }
    }
  }

  async #deleteContents(directory: Path): Promise<void> {
    const directories: string[] = [];
    const { options } = this;
    await this.#attempt(() =>
      forEachConcurrently(
        this.#entries(directory),
        async ({ name, type, isLink }) => {
          if (type === 'directory' && !isLink) directories.push(name);
          else await this.#attempt(() => this.fileSystem.deleteFile(directory.entry(name)));
        },
        options,
      ),
    );
    for (const name of directories) {
      if (options.signal?.aborted === true) return;
      await this.delete(directory.entry(name));
    }
  }

  async *#entries(directory: Path): AsyncGenerator<DirectoryEntry> {
    try {
      for await (const batch of this.fileSystem.list(directory, this.options.signal)) yield* batch;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | 'failed'> {
    try {
      return await work();
    } catch (error) {
      this.#fail(error);
      return 'failed';
    }
  }

  #fail(error: unknown): void {
    this.#failures++;
    this.failure = firstOrSuppressed(asError(error), this.failure);
  }
}
