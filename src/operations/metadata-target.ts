/** Where changed metadata goes: a new file, or in place of the old one. */
import { AlreadyExistsError, NotFoundError, RefusedError } from '../errors.js';
import type { AtomicWriter } from '../filesystem/file-system.js';
import { readChunks } from '../filesystem/limit.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { haveSameContents } from './file-contents.js';
import { METADATA_FILE } from './layout.js';
import { createOutput } from './output-file.js';
import type { ResolvedPointer } from './pointer.js';

/** What the old metadata is called while the new one is put in its place. */
const BACKUP_SUFFIX = '.before-rebase';

/** Where to write. */
export type MetadataTarget = { readonly kind: 'file'; readonly path: Path } | { readonly kind: 'in-place' };

/** `--out FILE` as a target: a directory that exists means the metadata in it. */
export async function targetFile(
  fileSystems: FileSystems,
  given: string,
): Promise<MetadataTarget & { readonly kind: 'file' }> {
  const path = fileSystems.nameOf(Path.parse(given));
  try {
    const status = await (await fileSystems.get(path)).getFileStatus(path);
    if (status.type === 'directory') return { kind: 'file', path: path.child(METADATA_FILE) };
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  return { kind: 'file', path };
}

/**
 * Writes metadata to its target: `write` fills the file, which appears only when it is complete. In place the old metadata
 * stays beside it under another name until the new one stands.
 * @throws AlreadyExistsError if the target exists; IoError; what `write` throws, then nothing has changed
 */
export async function writeMetadataTarget<T>(
  fileSystems: FileSystems,
  source: ResolvedPointer,
  target: MetadataTarget,
  write: (writer: AtomicWriter) => Promise<T>,
): Promise<T> {
  const path = target.kind === 'file' ? target.path : source.metadataPath;
  const writer = await createOutput(fileSystems, path, { overwrite: target.kind === 'in-place' });
  try {
    const result = await write(writer);
    if (target.kind === 'file') await writer.commit();
    else await replaceInPlace(fileSystems, source, writer);
    return result;
  } finally {
    await writer.abort();
  }
}

/** The old metadata that a run left which was killed right after the new one stood; undefined if there is none. */
export async function leftBackup(fileSystems: FileSystems, source: ResolvedPointer): Promise<Path | undefined> {
  const backup = backupOf(source);
  try {
    await (await fileSystems.get(backup)).getFileStatus(backup);
    return backup;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function backupOf({ directory, metadataPath }: ResolvedPointer): Path {
  return directory.entry(metadataPath.name + BACKUP_SUFFIX);
}

async function replaceInPlace(fileSystems: FileSystems, source: ResolvedPointer, writer: AtomicWriter): Promise<void> {
  const backup = backupOf(source);
  await copyTo(fileSystems, source.metadataPath, backup);
  await writer.commit();
  await (await fileSystems.get(backup)).deleteFile(backup);
}

/** Copies the old metadata, unless a run that was killed has done that already. */
async function copyTo(fileSystems: FileSystems, from: Path, to: Path): Promise<void> {
  let backup: AtomicWriter;
  try {
    backup = await createOutput(fileSystems, to);
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    if (await haveSameContents(fileSystems, from, to)) return;
    const reason = `${to} exists: an earlier run did not end; compare it with ${from.name}, then remove it`;
    throw new RefusedError(reason, { path: to.toString() }, { cause: error });
  }
  const source = await (await fileSystems.get(from)).open(from);
  try {
    for await (const chunk of readChunks(source)) await backup.write(chunk);
    await backup.commit();
  } finally {
    await backup.abort();
    await source.close();
  }
}

/** The target as the document shows it. */
export function targetPath(source: ResolvedPointer, target: MetadataTarget): Path {
  return target.kind === 'file' ? target.path : source.metadataPath;
}
