/** Deleting the way Flink's `FileSystem.delete` does, plain and recursive, on stores that know only single deletions. */
import { asError, DirectoryNotEmptyError, firstOrSuppressed, NotFoundError, WrongFileTypeError } from '../errors.js';
import type { DirectoryEntry, FileStatus, FileSystem } from '../filesystem/file-system.js';
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
 * Deletes a directory with everything in it, or a file. Links are removed and never followed, also not one that takes the
 * place of a directory meanwhile. A failure stops nothing but the removal of the directories above it; that nothing is there
 * is no failure.
 * @throws the first error of the file system, the later ones as its suppressed ones; the reason of the signal
 */
export async function deleteRecursively(
  fileSystem: FileSystem,
  path: Path,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const deletion = new RecursiveDeletion(fileSystem, options.signal);
  await deletion.delete(path);
  options.signal?.throwIfAborted();
  if (deletion.failure !== undefined) throw deletion.failure;
}

class RecursiveDeletion {
  failure: Error | undefined;
  #failures = 0;

  constructor(
    private readonly fileSystem: FileSystem,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async delete(path: Path): Promise<void> {
    try {
      const status = await this.#status(path);
      if (status?.type === 'directory' && !status.isLink) await this.#deleteDirectory(path, status.identity);
      else await this.fileSystem.deleteFile(path);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #status(path: Path): Promise<FileStatus | undefined> {
    try {
      return await this.fileSystem.getFileStatus(path);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async #deleteDirectory(directory: Path, identity: string | undefined): Promise<void> {
    const failuresBefore = this.#failures;
    for (let pass = 1; ; pass++) {
      await this.#deleteContents(directory, identity);
      if (this.#failures > failuresBefore || this.signal?.aborted === true) return;
      try {
        await this.fileSystem.deleteDirectory(directory);
        return;
      } catch (error) {
        if (!(error instanceof DirectoryNotEmptyError) || pass === PASSES) throw error;
      }
    }
  }

  async #deleteContents(directory: Path, identity: string | undefined): Promise<void> {
    const { fileSystem, signal } = this;
    const directories: string[] = [];
    try {
      for await (const batch of fileSystem.list(directory, signal)) {
        const isDirectory = ({ type, isLink }: DirectoryEntry) => type === 'directory' && !isLink;
        directories.push(...batch.filter(isDirectory).map(({ name }) => name));
        const files = batch.filter((entry) => !isDirectory(entry)).map(({ name }) => name);
        for (const result of await fileSystem.deleteFiles(directory, files, { identity, signal })) {
          if (result instanceof Error) this.#fail(result);
        }
      }
    } catch (error) {
      // Somebody else was quicker.
      if (!(error instanceof NotFoundError)) throw error;
    }
    for (const name of directories) {
      if (signal?.aborted === true || !(await this.#isStill(directory, identity))) return;
      await this.delete(directory.entry(name));
    }
  }

  /** False if something else is at the path by now: a link, perhaps, that leads to what nobody wants to lose. */
  async #isStill(directory: Path, identity: string | undefined): Promise<boolean> {
    if (identity === undefined) return true;
    const status = await this.#status(directory);
    return status?.identity === identity && !status.isLink;
  }

  #fail(error: unknown): void {
    this.#failures++;
    this.failure = firstOrSuppressed(asError(error), this.failure);
  }
}
