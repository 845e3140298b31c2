/**
 * From what stands after `-s` to the checkpoint it means.
 * Origin: Flink `AbstractFsCheckpointStorageAccess.resolveCheckpointPointer`.
 */
import { InvalidPathError, NoMetadataError, NotFoundError, PointerNotFoundError } from '../errors.js';
import type { FileStatus, FileSystem } from '../filesystem/file-system.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { FsCompletedCheckpointStorageLocation } from './fs-metadata-stream.js';
import { METADATA_FILE_NAME } from './layout.js';

/**
 * Finds a checkpoint or savepoint: a directory with a metadata file, or a metadata file of any name. The file is not opened:
 * even a directory called `_metadata` passes here.
 * @throws InvalidPathError, UnknownSchemeError; PointerNotFoundError if nothing is there, NoMetadataError for a directory
 *   without metadata; other errors of the file system
 */
export async function resolveCheckpointPointer(
  fileSystems: FileSystems,
  pointer: string,
): Promise<FsCompletedCheckpointStorageLocation> {
  const path = fileSystems.qualify(Path.parse(pointer));
  // Its printed form is parsed again when state is deleted, and would be another file then.
  if (!path.isFaithful) throw new InvalidPathError(path.toString(), 'it cannot be written as a path string');
  const fileSystem = await fileSystems.get(path);
  const status = await statusOf(fileSystem, path);
  if (status === undefined) {
    throw new PointerNotFoundError(
      path.toString(),
      'there is no checkpoint or savepoint, no file or directory at all',
      [],
    );
  }
  const isDirectory = status.type === 'directory';
  const metadataPath = isDirectory ? path.child(METADATA_FILE_NAME) : path;
  const metadata = isDirectory ? await statusOf(fileSystem, metadataPath) : status;
  if (metadata === undefined) {
    const hint = 'a metadata file of another name can be given itself';
    throw new NoMetadataError(path.toString(), `there is no ${METADATA_FILE_NAME} in this directory; ${hint}`);
  }
  const directory = isDirectory ? path : (path.parent ?? path);
  return new FsCompletedCheckpointStorageLocation(
    fileSystem,
    directory,
    { type: 'FileStateHandle', filePath: metadataPath.toString(), stateSize: BigInt(metadata.size) },
    directory.toString(),
  );
}

async function statusOf(fileSystem: FileSystem, path: Path): Promise<FileStatus | undefined> {
  try {
    return await fileSystem.getFileStatus(path);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
