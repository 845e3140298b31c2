/** Listings of directories, page by page, and what they tell of many entries at once. */
import type { CkptError } from '../../errors.js';
import { NotFoundError, WrongFileTypeError } from '../../errors.js';
import type { DirectoryEntry } from '../file-system.js';
import { forEachConcurrently } from '../limit.js';
import type { Path } from '../path.js';
import { encodePath } from './client.js';
import { RemoteFailure, toCkptError } from './remote-failure.js';
import type { RemoteStatus } from './status.js';
import { toDirectoryEntry } from './status.js';
import type { HdfsStore } from './store.js';

/** Up to this many names are looked at one by one: a page of a listing costs as much as some of them. */
const FEW = 4;

/** See `FileSystem.list`. */
export async function* listDirectory(
  store: HdfsStore,
  directory: Path,
  signal?: AbortSignal,
): AsyncGenerator<readonly DirectoryEntry[]> {
  for await (const entries of pagesOf(store, directory, signal)) {
    if (entries.length > 0) yield entries.map(toDirectoryEntry);
  }
}

/** What is known of each of these names: undefined if nothing is there, an error if it could not be looked at. */
export async function findEntries(
  store: HdfsStore,
  directory: Path,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<(RemoteStatus | CkptError | undefined)[]> {
  const results: (RemoteStatus | CkptError | undefined)[] = new Array(names.length).fill(undefined);
  const wanted = new Map<string, number[]>();
  for (const [index, name] of names.entries()) {
    try {
      encodePath(directory.entry(name));
      wanted.set(name, [...(wanted.get(name) ?? []), index]);
    } catch (error) {
      results[index] = toCkptError(error, { path: directory, action: 'status' });
    }
  }
  const settle = (name: string, result: RemoteStatus | CkptError | undefined) => {
    for (const index of wanted.get(name) ?? []) results[index] = result;
    wanted.delete(name);
  };
  if (wanted.size > FEW) await settleByListing(store, directory, wanted, settle, signal);
  await forEachConcurrently(
    [...wanted.keys()],
    async (name) => {
      const path = directory.entry(name);
      const result = await store.find(path, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        return toCkptError(error, { path, action: 'status' });
      });
      settle(name, result);
    },
    { concurrency: store.client.requests.concurrency, signal },
  );
  signal?.throwIfAborted();
  return results;
}

/** Goes through the listing for as long as that is cheaper than a look at each name that is left. */
async function settleByListing(
  store: HdfsStore,
  directory: Path,
  wanted: ReadonlyMap<string, unknown>,
  settle: (name: string, result: RemoteStatus | undefined) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    let pages = 0;
    for await (const entries of pagesOf(store, directory, signal)) {
      for (const entry of entries) if (wanted.has(entry.name)) settle(entry.name, entry);
      pages += 1;
      if (pages >= wanted.size) return;
    }
  } catch (error) {
    signal?.throwIfAborted();
    const isEmpty = error instanceof NotFoundError || error instanceof WrongFileTypeError;
    // Who may not list a directory may still look at what is in it.
    if (!isEmpty) return;
  }
  // The listing is in the order of the names: what was there all the time would have been in it.
  for (const name of [...wanted.keys()]) settle(name, undefined);
}

async function* pagesOf(
  store: HdfsStore,
  directory: Path,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly RemoteStatus[]> {
  signal?.throwIfAborted();
  for (let after = '', isFirst = true; ; isFirst = false) {
    const page = await store.page(directory, after, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      // The directory has vanished meanwhile, and everything in it.
      if (!isFirst && error instanceof RemoteFailure && error.isMissing) return undefined;
      throw toCkptError(error, { path: directory, action: 'listing' });
    });
    if (page === undefined) return;
    if (page.entries.some(({ name }) => name === '')) throw new WrongFileTypeError(directory.toString(), 'directory');
    yield page.entries;
    if (page.isLast) return;
    after = page.entries.at(-1)?.name ?? '';
  }
}
