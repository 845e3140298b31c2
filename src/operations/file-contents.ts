/** Whole files: compared, and copied by reading and writing. */
import { type CkptError, NotFoundError, UnsupportedOperationError } from '../errors.js';
import type { ByteSource } from '../filesystem/file-system.js';
import { readChunks } from '../filesystem/limit.js';
import type { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';

/** A part of an open file: [start, end), by default all of it. */
export interface FilePart {
  readonly source: ByteSource;
  readonly start?: number;
  readonly end?: number;
}

/** True if two parts have the same bytes. @throws what reading throws; the signal's reason */
export async function haveSameBytes(one: FilePart, other: FilePart, signal?: AbortSignal): Promise<boolean> {
  const { start = 0, end = one.source.size } = one;
  const { start: otherStart = 0, end: otherEnd = other.source.size } = other;
  if (end - start !== otherEnd - otherStart) return false;
  let position = otherStart;
  for await (const chunk of readChunks(one.source, { start, end, signal })) {
    const next = position + chunk.byteLength;
    if (Buffer.compare(chunk, await other.source.read(position, next, signal)) !== 0) return false;
    position = next;
  }
  return true;
}

/** True if two files have the same contents. @throws NotFoundError if one is not there; what reading throws */
export async function haveSameContents(fileSystems: FileSystems, one: Path, other: Path): Promise<boolean> {
  return withOpen(fileSystems, one, (first) =>
    withOpen(fileSystems, other, (second) => haveSameBytes({ source: first }, { source: second })),
  );
}

/**
 * Copies a file by reading and writing it; the copy is there only when it is whole.
 * @throws AlreadyExistsError if something is at `to`; NotFoundError if nothing is at `from`; what reading and writing throw
 */
export async function copyContents(fileSystems: FileSystems, from: Path, to: Path): Promise<void> {
  await withOpen(fileSystems, from, async (source) => {
    const writer = await (await fileSystems.get(to)).createAtomic(to);
    try {
      for await (const chunk of readChunks(source)) await writer.write(chunk);
      await writer.commit();
    } finally {
      await writer.abort();
    }
  });
}

/**
 * Lets the store copy a file itself, replacing what is at `to`.
 * @returns false if it cannot copy from the one place to the other: nothing has been done then
 * @throws the errors of `FileSystem.copyFile`
 */
export async function copiedByStore(
  fileSystems: FileSystems,
  from: Path,
  to: Path,
  options: { readonly sync?: boolean } = {},
): Promise<boolean> {
  if (fileSystems.lookUp(from).scheme !== fileSystems.lookUp(to).scheme) return false;
  try {
    await (await fileSystems.get(from)).copyFile(from, to, options);
    return true;
  } catch (error) {
    if (error instanceof UnsupportedOperationError) return false;
    throw error;
  }
}

/** True if an error says that nothing is at the path itself, and not at another one. */
export function isMissing(error: unknown, path: Path): error is CkptError {
  return error instanceof NotFoundError && error.data.path === path.toString();
}

async function withOpen<T>(fileSystems: FileSystems, path: Path, work: (source: ByteSource) => Promise<T>): Promise<T> {
  const source = await (await fileSystems.get(path)).open(path);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
