/** Removing files and empty directories. DELETE takes both, so what is there is looked at first. */
import { CkptError, IoError, WrongFileTypeError } from '../../errors.js';
import { asCkptError } from '../bulk.js';
import type { BulkDeletion, BulkDeletionOptions } from '../file-system.js';
import { forEachConcurrently } from '../limit.js';
import type { Path } from '../path.js';
import { findEntries } from './listing.js';
import { RemoteFailure, toCkptError } from './remote-failure.js';
import type { RemoteStatus } from './status.js';
import type { HdfsStore } from './store.js';

/** How long a look at the directory is good for while its files are removed. */
const TRUST_MILLISECONDS = 100;

/** See `FileSystem.deleteFile`. */
export async function removeFile(store: HdfsStore, path: Path): Promise<boolean> {
  try {
    return await removeFound(store, path, await store.find(path));
  } catch (error) {
    throw toCkptError(error, { path, action: 'delete' });
  }
}

/** See `FileSystem.deleteDirectory`. */
export async function removeDirectory(store: HdfsStore, path: Path): Promise<boolean> {
  try {
    const status = await store.find(path);
    if (status === undefined) return false;
    if (status.type !== 'directory') throw new WrongFileTypeError(path.toString(), 'directory');
    return await store.remove(path, status);
  } catch (error) {
    throw toCkptError(error, { path, action: 'delete' });
  }
}

/** See `FileSystem.deleteFiles`. */
export async function deleteEntries(
  store: HdfsStore,
  directory: Path,
  names: readonly string[],
  { identity, signal }: BulkDeletionOptions,
): Promise<BulkDeletion[]> {
  const results: BulkDeletion[] = new Array(names.length).fill(undefined);
  let found: Awaited<ReturnType<typeof findEntries>>;
  try {
    found = await findEntries(store, directory, names, signal);
  } catch (error) {
    // Aborted before anything was removed.
    if (signal?.aborted === true) return results;
    return names.map(() => asCkptError(error, directory, 'delete'));
  }
  const check = identity === undefined ? undefined : directoryCheck(store, directory, identity);
  await forEachConcurrently(
    names.entries(),
    async ([index, name]) => {
      const status = found[index];
      if (status === undefined || status instanceof CkptError) {
        results[index] = status ?? false;
        return;
      }
      try {
        results[index] =
          (check === undefined || (await check())) && (await removeFound(store, directory.entry(name), status));
      } catch (error) {
        results[index] = toCkptError(error, { path: directory.entry(name), action: 'delete' });
      }
    },
    { concurrency: store.client.requests.concurrency, signal },
  );
  return results;
}

async function removeFound(store: HdfsStore, path: Path, status: RemoteStatus | undefined): Promise<boolean> {
  if (status === undefined) return false;
  if (status.type === 'directory') throw new WrongFileTypeError(path.toString(), 'file');
  try {
    return await store.remove(path, status);
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error;
    if (error.isMissing) return false;
    // A directory has taken its place since.
    if (error.exception === 'PathIsNotEmptyDirectoryException') throw new WrongFileTypeError(path.toString(), 'file');
    throw error;
  }
}

/**
 * A check that is true while the directory is the one of this identity, and false if nothing is there any more. Many removals
 * at once share a look.
 * @throws the check: IoError if it is another one
 */
function directoryCheck(store: HdfsStore, directory: Path, identity: string): () => Promise<boolean> {
  let last: { readonly at: number; readonly result: Promise<boolean> } | undefined;
  const look = async () => {
    const status = await store.find(directory).catch((error: unknown) => {
      throw toCkptError(error, { path: directory, action: 'delete' });
    });
    if (status === undefined || (status.type === 'directory' && status.identity === identity))
      return status !== undefined;
    const cause = new Error('another directory has taken the place of this one since it was looked at');
    throw new IoError(directory.toString(), 'delete', { cause });
  };
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > TRUST_MILLISECONDS) {
      const result = look();
      result.catch(() => undefined);
      last = { at: now, result };
    }
    return last.result;
  };
}
