/**
 * The first step of a discard: the metadata becomes a tombstone. From then on nobody can restore from the checkpoint, and a
 * second run still knows what belongs to it.
 */
import { AlreadyExistsError, CkptError, IoError, UnsupportedOperationError } from '../../errors.js';
import type { Path } from '../../filesystem/path.js';
import type { FileSystems } from '../../filesystem/registry.js';
import { writeMetadata } from '../../format/metadata/metadata-encoder.js';
import { copyContents, haveSameContents } from '../file-contents.js';
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
    if (fileSystem.kind === 'object-store') await putTombstone(fileSystems, metadataPath, tombstonePath);
    else await fileSystem.rename(metadataPath, tombstonePath);
  } catch (error) {
    if (error instanceof UnsupportedOperationError) await putTombstone(fileSystems, metadataPath, tombstonePath);
    else if (error instanceof AlreadyExistsError) await finishRename(fileSystems, metadataPath, tombstonePath);
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
async function finishRename(fileSystems: FileSystems, metadataPath: Path, tombstonePath: Path): Promise<void> {
  if (!(await haveSameContents(fileSystems, metadataPath, tombstonePath))) {
    throw failure(
      tombstonePath,
      'this is the tombstone of another checkpoint that was in this directory; discard it first, by its own path',
    );
  }
  await (await fileSystems.get(metadataPath)).deleteFile(metadataPath);
}

async function putTombstone(fileSystems: FileSystems, metadataPath: Path, tombstonePath: Path): Promise<void> {
  try {
    await copyContents(fileSystems, metadataPath, tombstonePath);
  } catch (error) {
    if (error instanceof AlreadyExistsError) return finishRename(fileSystems, metadataPath, tombstonePath);
    throw error;
  }
  const fileSystem = await fileSystems.get(metadataPath);
  if (!(await haveSameContents(fileSystems, metadataPath, tombstonePath))) {
    await fileSystem.deleteFile(tombstonePath);
    throw failure(tombstonePath, 'it reads back differently from what was written');
  }
  await fileSystem.deleteFile(metadataPath);
}

function failure(path: Path, reason: string): IoError {
  return new IoError(path.toString(), 'discard', { cause: new Error(reason) });
}
