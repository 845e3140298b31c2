/** Listing of a local directory, of any size. */
import type { BigIntStats, Dir, Dirent, Stats } from 'node:fs';
import { lstat, opendir, readdir, stat } from 'node:fs/promises';
import pMap from 'p-map';
import { WrongFileTypeError } from '../errors.js';
import type { DirectoryEntry, FileType } from './file-system.js';
import { errnoOf, fromErrno } from './local-errors.js';
import { fromNativeName, toNativePath } from './local-path.js';
import type { Path } from './path.js';

const BATCH = 1024;
const CONCURRENT_STATS = 16;

/** A directory entry with the bytes of its name: only they tell what is not UTF-8. */
type RawEntry = Pick<Dirent<Buffer>, 'name' | 'isFile' | 'isDirectory' | 'isSymbolicLink'>;

/** What the listing asks of the operating system; a test may stand in for a system that knows less. */
export interface ListingCalls {
  readonly opendir: typeof opendir;
}

/** The type of a file by its status. */
export function fileTypeOf(status: Stats | BigIntStats): FileType {
  return status.isFile() ? 'file' : status.isDirectory() ? 'directory' : 'other';
}

/** The children of a local directory in batches of at most 1,024; see `FileSystem.list`. */
export async function* listLocal(
  directory: Path,
  signal?: AbortSignal,
  calls: ListingCalls = { opendir },
): AsyncGenerator<readonly DirectoryEntry[], void, undefined> {
  try {
    for await (const batch of readBatches(toNativePath(directory), calls)) {
      signal?.throwIfAborted();
      const entries = await describe(directory, batch);
      signal?.throwIfAborted();
      yield entries;
    }
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) throw error;
    throw await explain(error, directory);
  }
}

/**
 * Most file systems tell the type of an entry with its name. For one that does not, Node asks for it entry by entry and
 * gives up when one has vanished meanwhile; then only the names are read at once, and the types are asked for here.
 */
async function* readBatches(native: string | Buffer, calls: ListingCalls): AsyncGenerator<RawEntry[]> {
  // The declared types of Node know neither this encoding nor that the names are Buffers then.
  const directory = await calls.opendir(native, { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH });
  let isFirst = true;
  try {
    for (;;) {
      const batch = await readBatch(directory, isFirst);
      if (batch === 'no types') break;
      if (batch.length === 0) return;
      isFirst = false;
      yield batch;
    }
  } finally {
    await directory.close();
  }
  const names = await readdir(native, { encoding: 'buffer' });
  for (let start = 0; start < names.length; start += BATCH) {
    const batch = names.slice(start, start + BATCH);
    const entries = await pMap(batch, (name) => lookAt(native, name), { concurrency: CONCURRENT_STATS });
    yield entries.filter((entry) => entry !== undefined);
  }
}

async function readBatch(directory: Dir, isFirst: boolean): Promise<RawEntry[] | 'no types'> {
  const batch: RawEntry[] = [];
  try {
    while (batch.length < BATCH) {
      // One call in the background fills a buffer of so many entries; a promise for each would cost more than the call.
      const isBuffered = batch.length > 0;
      const entry = (isBuffered ? directory.readSync() : await directory.read()) as unknown as RawEntry | null;
      if (entry === null) return batch;
      if (isFirst && batch.length === 0 && entry.constructor.name === 'DirentFromStats') return 'no types';
      batch.push(entry);
    }
    return batch;
  } catch (error) {
    if (isFirst && error instanceof Error && 'syscall' in error && error.syscall === 'lstat') return 'no types';
    throw error;
  }
}

async function lookAt(directory: string | Buffer, name: Buffer): Promise<RawEntry | undefined> {
  try {
    const status = await lstat(Buffer.concat([Buffer.from(directory), Buffer.from('/'), name]));
    return {
      name,
      isFile: () => status.isFile(),
      isDirectory: () => status.isDirectory(),
      isSymbolicLink: () => status.isSymbolicLink(),
    };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Only links need another look, so a directory of files costs no promise for each. */
async function describe(directory: Path, batch: readonly RawEntry[]): Promise<DirectoryEntry[]> {
  const unresolved: { readonly name: string }[] = [];
  const entries: DirectoryEntry[] = [];
  for (const raw of batch) {
    const name = fromNativeName(raw.name);
    if (raw.isSymbolicLink()) unresolved.push({ name });
    else entries.push(entryOf(name, raw.isFile() ? 'file' : raw.isDirectory() ? 'directory' : 'other', 'plain'));
  }
  await pMap(
    unresolved,
    async ({ name }) => {
      const type = await targetType(directory.entry(name));
      if (type !== undefined) entries.push(entryOf(name, type, 'link'));
    },
    { concurrency: CONCURRENT_STATS },
  );
  return entries;
}

function entryOf(name: string, type: FileType, kind: 'plain' | 'link'): DirectoryEntry {
  return { name, type, isLink: kind === 'link', size: undefined, modificationTime: undefined };
}

/** What a link leads to; undefined if the link itself has vanished. */
async function targetType(link: Path): Promise<FileType | undefined> {
  const native = toNativePath(link);
  try {
    return fileTypeOf(await stat(native));
  } catch {
    // It dangles, goes in circles or leads to where we may not look: in any case nothing that we could read.
    return lstat(native).then(
      () => 'other',
      (error: unknown) => (errnoOf(error) === 'ENOENT' ? undefined : 'other'),
    );
  }
}

async function explain(error: unknown, directory: Path): Promise<Error> {
  if (errnoOf(error) === 'ENOTDIR') {
    const exists = await stat(toNativePath(directory)).then(
      () => true,
      () => false,
    );
    if (exists) return new WrongFileTypeError(directory.toString(), 'directory', { cause: error });
  }
  return fromErrno(error, directory, 'list');
}
