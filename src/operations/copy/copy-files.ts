/** Copies the files of a plan: several at once, each where it is not yet, none larger or smaller than it should be. */
import { CkptError, IoError, NotFoundError, UnsupportedOperationError } from '../../errors.js';
import type { FileSystem } from '../../filesystem/file-system.js';
import { forEachConcurrently, readChunks } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { createOutput } from '../output-file.js';
import type { CopyFile } from './copy-plan.js';

const CONCURRENT_COPIES = 8;

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

/**
 * Copies files into a directory that exists.
 * @throws the first failure, after all that was under way has ended: IoError if a source is missing or cannot be read,
 *   SourceDamagedError; the signal's reason
 */
export async function copyFiles(
  fileSystems: FileSystems,
  files: readonly CopyFile[],
  target: Path,
  options: CopyFilesOptions = {},
): Promise<CopiedFiles> {
  const present = await presentFiles(fileSystems, target);
  const targetSystem = await fileSystems.get(target);
  const done = { files: 0, bytes: 0, alreadyThere: 0 };
  await forEachConcurrently(
    files,
    async (file) => {
      const sourceSystem = await fileSystems.get(file.source);
      const bytes = await lengthOf(sourceSystem, file);
      const to = target.entry(file.name);
      if (present.has(file.name) && (await isThere(targetSystem, sourceSystem, file, to, bytes, options)))
        done.alreadyThere++;
      else await copyOne(fileSystems, sourceSystem, file, to, bytes, options);
      done.files++;
      done.bytes += bytes;
      options.onFile?.({ ...done, total: files.length });
    },
    { concurrency: CONCURRENT_COPIES, ...(options.signal && { signal: options.signal }) },
  );
  options.signal?.throwIfAborted();
  return done;
}

async function presentFiles(fileSystems: FileSystems, target: Path): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const entries of (await fileSystems.get(target)).list(target)) {
    for (const { name, type } of entries) if (type === 'file') names.add(name);
  }
  return names;
}

/** Bytes to copy, which the source must have. */
async function lengthOf(fileSystem: FileSystem, { source, start, length, recorded }: CopyFile): Promise<number> {
  let size: number;
  try {
    ({ size } = await fileSystem.getFileStatus(source));
  } catch (error) {
    // The checkpoint is there, its file is not: no wrong pointer, but a checkpoint that is not whole (any more).
    if (error instanceof NotFoundError) throw new IoError(source.toString(), 'copying', { cause: error });
    throw error;
  }
  if (recorded !== undefined && size !== recorded) throw new SourceDamagedError(source.toString(), recorded, size);
  if (length === undefined) return size;
  if (start + length > size) throw new SourceDamagedError(source.toString(), start + length, size);
  return length;
}

async function isThere(
  targetSystem: FileSystem,
  sourceSystem: FileSystem,
  file: CopyFile,
  to: Path,
  bytes: number,
  options: CopyFilesOptions,
): Promise<boolean> {
  const { size } = await targetSystem.getFileStatus(to);
  if (size !== bytes) return false;
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
  const from = await sourceSystem.open(file.source);
  try {
    const copy = await targetSystem.open(to);
    try {
      let position = 0;
      for await (const chunk of readChunks(from, { start: file.start, end: file.start + bytes, signal })) {
        const end = position + chunk.length;
        if (Buffer.compare(chunk, await copy.read(position, end)) !== 0) return false;
        position = end;
      }
      return true;
    } finally {
      await copy.close();
    }
  } finally {
    await from.close();
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
  if (file.length === undefined && (await copiedByStore(fileSystems, file.source, to, options))) return;
  const writer = await createOutput(fileSystems, to, { overwrite: true, sync: options.fsync === true });
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

/** Lets the store copy the file itself, if both names are of one store. */
async function copiedByStore(
  fileSystems: FileSystems,
  from: Path,
  to: Path,
  options: CopyFilesOptions,
): Promise<boolean> {
  const source = fileSystems.lookUp(from);
  const target = fileSystems.lookUp(to);
  if (source.scheme !== target.scheme || source.authority !== target.authority) return false;
  try {
    await (await fileSystems.get(from)).copyFile(from, to, { sync: options.fsync === true });
    return true;
  } catch (error) {
    if (error instanceof UnsupportedOperationError) return false;
    throw error;
  }
}
