/** Copies the files of a plan: several at once, each where it is not yet, none larger or smaller than it should be. */
import { CkptError, FileSystemError, IoError, RefusedError } from '../../errors.js';
import type { EntryStatus, FileSystem } from '../../filesystem/file-system.js';
import { forEachConcurrently, readChunks } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { isTemporaryName } from '../../filesystem/temporary-name.js';
import { copiedByStore, haveSameBytes } from '../file-contents.js';
import { createOutput } from '../output-file.js';
import type { CopyFile } from './copy-plan.js';

const CONCURRENT_COPIES = 8;
/** Files looked at with one call. */
const LOOKED_AT_ONCE = 512;

/** How to copy. */
export interface CopyFilesOptions {
  /** Sync each file to its disk. */
  readonly fsync?: boolean | undefined;
  /** Compare the contents of files that are there already, not only their lengths. */
  readonly checksum?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each file that is in its place, with all bytes so far. */
  readonly onFile?:
    | ((done: { readonly files: number; readonly bytes: number; readonly total: number }) => void)
    | undefined;
}

/** What was done. */
export interface CopiedFiles {
  /** In their place now. */
  readonly files: number;
  readonly bytes: number;
  /** Of them, those that were there already. */
  readonly alreadyThere: number;
}

/** A source file that is not what the metadata says: the copy would not be whole either. */
export class SourceDamagedError extends CkptError {
  readonly code = 'SOURCE_DAMAGED';
  override readonly category = 'failed';
  readonly data: { readonly path: string; readonly expected: number; readonly found: number };
  constructor(path: string, expected: number, found: number) {
    super(`${path}: has ${found} bytes where ${expected} are recorded; nothing whole can be copied of it`);
    this.data = { path, expected, found };
  }
}

/** A file to copy, after a look at both ends. */
interface LookedAt {
  readonly file: CopyFile;
  /** To be copied. */
  readonly bytes: number;
  /** What has the name in the target; undefined if nothing has. */
  readonly present: EntryStatus | undefined;
}

/**
 * Copies files into a directory that exists and is nobody else's.
 * @throws the first failure, after all that was under way has ended: IoError if a file is missing or cannot be read or
 *   written, SourceDamagedError; RefusedError if a directory has the name of a file; the signal's reason
 */
export async function copyFiles(
  fileSystems: FileSystems,
  files: readonly CopyFile[],
  target: Path,
  options: CopyFilesOptions = {},
): Promise<CopiedFiles> {
  const targetSystem = await fileSystems.get(target);
  const present = await presentNames(targetSystem, target);
  const done = { files: 0, bytes: 0, alreadyThere: 0 };
  await forEachConcurrently(
    looksAt(fileSystems, files, target, present, options.signal),
    async ({ file, bytes, present: found }) => {
      const to = target.entry(file.name);
      const sourceSystem = await fileSystems.get(file.source);
      await failing(file.source, async () => {
        if (found && (await isThere(targetSystem, sourceSystem, file, to, { bytes, found, options }))) {
          done.alreadyThere++;
          return;
        }
        // Not over it: it may be a link to another file, another name of one, or not writable.
        if (found) await targetSystem.deleteFile(to);
        await copyOne(fileSystems, sourceSystem, file, to, bytes, options);
      });
      done.files++;
      done.bytes += bytes;
      options.onFile?.({ ...done, total: files.length });
    },
    { concurrency: CONCURRENT_COPIES, ...(options.signal && { signal: options.signal }) },
  );
  options.signal?.throwIfAborted();
  return done;
}

/** The names in the target. What a killed run has not finished goes. */
async function presentNames(fileSystem: FileSystem, target: Path): Promise<Set<string>> {
  const names = new Set<string>();
  const unfinished: string[] = [];
  for await (const entries of fileSystem.list(target)) {
    for (const { name } of entries) {
      if (isTemporaryName(name)) unfinished.push(name);
      else names.add(name);
    }
  }
  await fileSystem.deleteFiles(target, unfinished);
  return names;
}

/** The files one by one, looked at in both places, many with one call. */
async function* looksAt(
  fileSystems: FileSystems,
  files: readonly CopyFile[],
  target: Path,
  present: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<LookedAt, void, undefined> {
  for (let start = 0; start < files.length; start += LOOKED_AT_ONCE) {
    const batch = files.slice(start, start + LOOKED_AT_ONCE);
    const sizes = await sizesOf(fileSystems, batch, signal);
    const there = await statusesIn(
      await fileSystems.get(target),
      target,
      batch.map(({ name }) => name).filter((name) => present.has(name)),
      signal,
    );
    for (const [index, file] of batch.entries()) {
      const found = there.get(file.name);
      if (found instanceof CkptError) throw asFailure(found, target.entry(file.name));
      if (found?.type === 'directory') {
        const path = target.entry(file.name).toString();
        throw new RefusedError(`${path}: a directory has the name of a file of the copy`, { path });
      }
      yield { file, bytes: bytesToCopy(file, sizes[index] ?? 0), present: found };
    }
  }
}

/** Lengths of source files, in their order. */
async function sizesOf(
  fileSystems: FileSystems,
  files: readonly CopyFile[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const byDirectory = new Map<string, { readonly directory: Path; readonly indexes: number[] }>();
  for (const [index, { source }] of files.entries()) {
    const directory = source.parent ?? source;
    const group = byDirectory.get(directory.toString()) ?? { directory, indexes: [] };
    group.indexes.push(index);
    byDirectory.set(directory.toString(), group);
  }
  const sizes: number[] = new Array(files.length);
  for (const { directory, indexes } of byDirectory.values()) {
    const fileSystem = await fileSystems.get(directory);
    const names = indexes.map((index) => files[index]?.source.name ?? '');
    const statuses = await statusesIn(fileSystem, directory, names, signal);
    for (const index of indexes) {
      const source = files[index]?.source ?? directory;
      const status = statuses.get(source.name);
      if (status instanceof CkptError) throw asFailure(status, source);
      // A link, or gone: a look at the path itself follows the one and explains the other.
      sizes[index] =
        status?.type === 'file'
          ? status.size
          : await failing(source, async () => (await fileSystem.getFileStatus(source)).size);
    }
  }
  return sizes;
}

async function statusesIn(
  fileSystem: FileSystem,
  directory: Path,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, EntryStatus | CkptError>> {
  const statuses = new Map<string, EntryStatus | CkptError>();
  if (names.length === 0) return statuses;
  const found = await fileSystem.getFileStatuses(directory, names, signal);
  names.forEach((name, index) => {
    const status = found[index];
    if (status) statuses.set(name, status);
  });
  return statuses;
}

/** Bytes to copy, which the source must have. */
function bytesToCopy({ source, start, length, recorded }: CopyFile, size: number): number {
  if (recorded !== undefined && size !== recorded) throw new SourceDamagedError(source.toString(), recorded, size);
  if (length === undefined) return size;
  if (start + length > size) throw new SourceDamagedError(source.toString(), start + length, size);
  return length;
}

/**
 * The checkpoint is there, one of its files is not, or cannot be read or written: no wrong pointer, but something that could
 * not be done.
 */
async function failing<T>(path: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFailure(error, path);
  }
}

function asFailure(error: unknown, path: Path): unknown {
  if (!(error instanceof FileSystemError) || error instanceof IoError) return error;
  return new IoError(path.toString(), 'copying', { cause: error });
}

interface PresentFile {
  readonly bytes: number;
  readonly found: EntryStatus;
  readonly options: CopyFilesOptions;
}

/** True if what has the name is a copy already: a file of its own, with no other name and no link, as long as it should be. */
async function isThere(
  targetSystem: FileSystem,
  sourceSystem: FileSystem,
  file: CopyFile,
  to: Path,
  { bytes, found, options }: PresentFile,
): Promise<boolean> {
  if (found.type !== 'file' || found.linkCount > 1 || found.size !== bytes) return false;
  return !options.checksum || (await sameContents(sourceSystem, targetSystem, file, to, bytes, options.signal));
}

async function sameContents(
  sourceSystem: FileSystem,
  targetSystem: FileSystem,
  file: CopyFile,
  to: Path,
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const source = await sourceSystem.open(file.source);
  try {
    const copy = await targetSystem.open(to);
    try {
      return await haveSameBytes({ source, start: file.start, end: file.start + bytes }, { source: copy }, signal);
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}

async function copyOne(
  fileSystems: FileSystems,
  sourceSystem: FileSystem,
  file: CopyFile,
  to: Path,
  bytes: number,
  options: CopyFilesOptions,
): Promise<void> {
  const sync = { sync: options.fsync === true };
  if (file.length === undefined && (await copiedByStore(fileSystems, file.source, to, sync))) return;
  const writer = await createOutput(fileSystems, to, { overwrite: true, ...sync, size: bytes });
  try {
    const from = await sourceSystem.open(file.source);
    try {
      for await (const chunk of readChunks(from, {
        start: file.start,
        end: file.start + bytes,
        signal: options.signal,
      })) {
        await writer.write(chunk);
      }
    } finally {
      await from.close();
    }
    await writer.commit();
  } finally {
    await writer.abort();
  }
}

/**
 * Checks after all copying that each file is in the target, as long as planned: whatever else may have been at work there.
 * @throws IoError
 */
export async function checkCopied(
  fileSystems: FileSystems,
  files: readonly CopyFile[],
  target: Path,
  signal?: AbortSignal,
): Promise<void> {
  const fileSystem = await fileSystems.get(target);
  for (let start = 0; start < files.length; start += LOOKED_AT_ONCE) {
    const batch = files.slice(start, start + LOOKED_AT_ONCE);
    const names = batch.map(({ name }) => name);
    const statuses = await statusesIn(fileSystem, target, names, signal);
    for (const { name, length, recorded } of batch) {
      const status = statuses.get(name);
      const path = target.entry(name).toString();
      if (status instanceof CkptError) throw asFailure(status, target.entry(name));
      const expected = length ?? recorded;
      if (status?.type === 'file' && (expected === undefined || status.size === expected)) continue;
      const cause = new Error(status ? `it has ${status.size} bytes, not ${expected}` : 'it is gone again');
      throw new IoError(path, 'copying', { cause });
    }
  }
}
