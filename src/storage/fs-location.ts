/**
 * Where one checkpoint keeps state and metadata in files.
 * Origin: Flink `FsCheckpointStorageLocation`.
 */
import type { FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { CheckpointStorageLocation } from './checkpoint-storage.js';
import { deleteRecursively } from './delete.js';
import { FsCheckpointMetadataOutputStream } from './fs-metadata-stream.js';
import { type FileStateSettings, FsCheckpointStreamFactory } from './fs-state-stream.js';
import { METADATA_FILE_NAME } from './layout.js';
import type { CheckpointStorageLocationReference } from './location-reference.js';

/** The directories of one checkpoint; of a savepoint, one directory that is all of them. */
export interface FsCheckpointDirectories {
  readonly checkpointDirectory: Path;
  readonly sharedStateDirectory: Path;
  readonly taskOwnedStateDirectory: Path;
}

/** See the module. */
export class FsCheckpointStorageLocation extends FsCheckpointStreamFactory implements CheckpointStorageLocation {
  readonly taskOwnedStateDirectory: Path;
  readonly metadataFilePath: Path;

  /** @throws UsageError for impossible settings */
  constructor(
    fileSystem: FileSystem,
    directories: FsCheckpointDirectories,
    readonly locationReference: CheckpointStorageLocationReference,
    settings: FileStateSettings = {},
  ) {
    super(fileSystem, directories.checkpointDirectory, directories.sharedStateDirectory, settings);
    this.taskOwnedStateDirectory = directories.taskOwnedStateDirectory;
    this.metadataFilePath = directories.checkpointDirectory.child(METADATA_FILE_NAME);
  }

  get exclusiveDirectory(): Path {
    return this.checkpointDirectory;
  }

  createMetadataOutputStream(): Promise<FsCheckpointMetadataOutputStream> {
    return FsCheckpointMetadataOutputStream.open(this.fileSystem, this.metadataFilePath, this.checkpointDirectory);
  }

  disposeOnFailure(): Promise<void> {
    return deleteRecursively(this.fileSystem, this.fileSystem.qualify(this.checkpointDirectory));
  }

  override toString(): string {
    const { checkpointDirectory, sharedStateDirectory, taskOwnedStateDirectory, metadataFilePath } = this;
    const directories = `checkpointDirectory=${checkpointDirectory}, sharedStateDirectory=${sharedStateDirectory}, taskOwnedStateDirectory=${taskOwnedStateDirectory}`;
    return `FsCheckpointStorageLocation {${directories}, metadataFilePath=${metadataFilePath}, reference=${this.locationReference}}`;
  }
}
