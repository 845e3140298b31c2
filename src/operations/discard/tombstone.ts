/**
 * The first step of a discard: the metadata becomes a tombstone. From then on nobody can restore from the checkpoint, and a
 * second run still knows what belongs to it.
 */
import { AlreadyExistsError, CkptError, IoError, UnsupportedOperationError } from '../../errors.js';
import type { ByteSource, FileSystem } from '../../filesystem/file-system.js';
import { readChunks } from '../../filesystem/limit.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { writeMetadata } from '../../format/metadata/metadata-encoder.js';
import type { DiscardTarget, TargetWork } from './types.js';

/**
 * Makes the tombstone of a complete checkpoint. If it rejects, the checkpoint is still complete, unless another process has
 * taken a part of it. Where the store cannot rename, the tombstone is put, read back, and only then the metadata deleted:
 * while both are there the checkpoint counts as complete.
 * @throws IoError if the metadata is not what was planned with, or if another tombstone is in the way; errors of the store
 */
export async function makeTombstone(
  fileSystems: FileSystems,
  { target, metadata, identity }: TargetWork,
): Promise<void> {
  const { metadataPath, tombstonePath, directory } = target;
  const fileSystem = await fileSystems.get(directory);
  if ((await fileSystem.getFileStatus(directory)).identity !== identity) {
    throw failure(directory, 'another directory has taken its place since the plan was made');
  }
  const status = await fileSystem.getFileStatus(metadataPath);
  if (
    metadata &&
    !status.isLink &&
    (status.size !== metadata.size || status.modificationTime !== metadata.modificationTime)
  ) {
    throw failure(metadataPath, 'it has changed since the plan was made');
  }
  try {
    if (fileSystem.kind === 'object-store') await putTombstone(fileSystem, metadataPath, tombstonePath);
    else await fileSystem.rename(metadataPath, tombstonePath);
  } catch (error) {
    if (error instanceof UnsupportedOperationError) await putTombstone(fileSystem, metadataPath, tombstonePath);
    else if (error instanceof AlreadyExistsError) await finishRename(fileSystem, metadataPath, tombstonePath);
    else throw error;
  }
}

/**
 * Puts a tombstone that names nothing into a directory of which all is gone but the directory itself, so that a second run
 * can try again. Does what it can: that the directory is left has been told already.
 */
export async function restoreTombstone(fileSystems: FileSystems, { tombstonePath }: DiscardTarget): Promise<void> {
  const nothing = writeMetadata({
    version: 3,
    layout: 'current',
    checkpointId: 0n,
    masterStates: [],
    operatorStates: [],
    propertiesBlock: null,
    trailingBytes: new Uint8Array(),
  });
  try {
    await (await fileSystems.get(tombstonePath)).createExclusive(tombstonePath, nothing);
  } catch (error) {
    if (!(error instanceof CkptError)) throw error;
  }
}

/** A run was killed when both names stood: they are one file, or two with the same contents. */
async function finishRename(fileSystem: FileSystem, metadataPath: Path, tombstonePath: Path): Promise<void> {
  if (!(await haveSameContents(fileSystem, metadataPath, tombstonePath))) {
    throw failure(
      tombstonePath,
      'this is the tombstone of another checkpoint that was in this directory; discard it first, by its own path',
    );
  }
  await fileSystem.deleteFile(metadataPath);
}

async function putTombstone(fileSystem: FileSystem, metadataPath: Path, tombstonePath: Path): Promise<void> {
  try {
    await copyFile(fileSystem, metadataPath, tombstonePath);
  } catch (error) {
    if (error instanceof AlreadyExistsError) return finishRename(fileSystem, metadataPath, tombstonePath);
    throw error;
  }
  if (!(await haveSameContents(fileSystem, metadataPath, tombstonePath))) {
    await fileSystem.deleteFile(tombstonePath);
    throw failure(tombstonePath, 'it reads back differently from what was written');
  }
  await fileSystem.deleteFile(metadataPath);
}

async function copyFile(fileSystem: FileSystem, from: Path, to: Path): Promise<void> {
  const source = await fileSystem.open(from);
  try {
    const writer = await fileSystem.createAtomic(to);
    try {
      for await (const chunk of readChunks(source)) await writer.write(chunk);
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.commit();
  } finally {
    await source.close();
  }
}

async function haveSameContents(fileSystem: FileSystem, one: Path, other: Path): Promise<boolean> {
  const first = await fileSystem.open(one);
  try {
    const second = await fileSystem.open(other);
    try {
      return await readSame(first, second);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

async function readSame(first: ByteSource, second: ByteSource): Promise<boolean> {
  if (first.size !== second.size) return false;
  let position = 0;
  for await (const chunk of readChunks(first)) {
    const other = await second.read(position, position + chunk.byteLength);
    if (Buffer.compare(chunk, other) !== 0) return false;
    position += chunk.byteLength;
  }
  return true;
}

function failure(path: Path, reason: string): IoError {
  return new IoError(path.toString(), 'discard', { cause: new Error(reason) });
}
