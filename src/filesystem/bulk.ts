/** The calls for many files of one directory, made of single ones: for stores that have nothing better. */
import { asError, CkptError, IoError, NotFoundError } from '../errors.js';
import type { BulkDeletion, BulkDeletionOptions, EntryStatus, FileStatus, FileSystem } from './file-system.js';
import { forEachConcurrently } from './limit.js';
import type { Path } from './path.js';

/** `FileSystem.getFileStatuses` by calls of `getFileStatus`, for stores without links. */
export async function statusOneByOne(
  fileSystem: Pick<FileSystem, 'getFileStatus'>,
  directory: Path,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<(EntryStatus | CkptError | undefined)[]> {
  const statuses: (EntryStatus | CkptError | undefined)[] = new Array(names.length).fill(undefined);
  await forEachConcurrently(
    names.entries(),
    async ([index, name]) => {
      try {
        statuses[index] = entryStatusOf(await fileSystem.getFileStatus(directory.entry(name)));
      } catch (error) {
        statuses[index] = error instanceof NotFoundError ? undefined : asCkptError(error, directory, 'status');
      }
    },
    { signal },
  );
  signal?.throwIfAborted();
  return statuses;
}

/** `FileSystem.deleteFiles` by calls of `deleteFile`, for stores without identities. */
export async function deleteOneByOne(
  fileSystem: Pick<FileSystem, 'deleteFile'>,
  directory: Path,
  names: readonly string[],
  options: BulkDeletionOptions = {},
): Promise<BulkDeletion[]> {
  const results: BulkDeletion[] = new Array(names.length).fill(undefined);
  await forEachConcurrently(
    names.entries(),
    async ([index, name]) => {
      try {
        results[index] = await fileSystem.deleteFile(directory.entry(name));
      } catch (error) {
        results[index] = asCkptError(error, directory, 'delete');
      }
    },
    { signal: options.signal },
  );
  return results;
}

function entryStatusOf(status: FileStatus): EntryStatus {
  const { type, size, modificationTime, newestTime, linkCount } = status;
  return { type, size, modificationTime, newestTime, linkCount };
}

/** What a call for many files has in place of a result where one of them failed. */
export function asCkptError(thrown: unknown, directory: Path, action: string): CkptError {
  return thrown instanceof CkptError ? thrown : new IoError(directory.toString(), action, { cause: asError(thrown) });
}
