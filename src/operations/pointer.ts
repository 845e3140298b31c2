/**
 * From what a user writes after `-s` to the metadata file it means: Flink's
 * `AbstractFsCheckpointStorageAccess.resolveCheckpointPointer`, with errors that say what is there instead.
 */
import { NotFoundError, WrongFileTypeError } from '../errors.js';
import type { ByteSource, FileStatus } from '../filesystem/file-system.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import { METADATA_FILE } from './layout.js';
import { type ExplainOptions, explainMissing, explainNoMetadata, isNoSuchName } from './pointer-errors.js';

/** A pointer that leads to metadata. */
export interface ResolvedPointer {
  /** As the user wrote it. */
  readonly given: string;
  /** The directory, qualified: what Flink calls the external pointer, and what relative handles are relative to. */
  readonly directory: Path;
  /** The metadata file, qualified. */
  readonly metadataPath: Path;
  readonly metadata: FileStatus;
}

/**
 * Resolves a pointer.
 * @throws PointerNotFoundError, NoMetadataError, PermissionError, UnknownSchemeError, InvalidPathError; WrongFileTypeError
 *   if the pointer is neither a directory nor a regular file; the signal's reason
 */
export async function resolvePointer(
  fileSystems: FileSystems,
  pointer: string,
  options: ExplainOptions = {},
): Promise<ResolvedPointer> {
  const path = fileSystems.nameOf(Path.parse(pointer));
  const fileSystem = await fileSystems.get(path);
  let status: FileStatus;
  try {
    status = await fileSystem.getFileStatus(path);
  } catch (error) {
    if (isNoSuchName(error)) throw await explainMissing(fileSystems, path, pointer);
    throw error;
  }
  if (status.type === 'file') {
    return { given: pointer, directory: path.parent ?? path, metadataPath: path, metadata: status };
  }
  if (status.type !== 'directory') throw new WrongFileTypeError(path.toString(), 'file');
  const metadataPath = path.child(METADATA_FILE);
  let metadata: FileStatus | undefined;
  try {
    metadata = await fileSystem.getFileStatus(metadataPath);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  if (metadata?.type !== 'file') throw await explainNoMetadata(fileSystems, path, options);
  return { given: pointer, directory: path, metadataPath, metadata };
}

/** Opens the metadata of a pointer. The caller closes it. */
export async function openMetadata(fileSystems: FileSystems, pointer: ResolvedPointer): Promise<ByteSource> {
  return (await fileSystems.get(pointer.metadataPath)).open(pointer.metadataPath);
}
