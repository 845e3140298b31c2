/**
 * Checkpoints in files.
 * Origin: Flink `FsCheckpointStorageAccess`.
 */
import type { FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import { AbstractFsCheckpointStorage, type FsStorageOptions, nameable } from './abstract-fs-storage.js';
import { checkCheckpointId } from './checkpoint-id.js';
import { FsCheckpointStorageLocation } from './fs-location.js';
import { checkFileStateSettings, type FileStateSettings, FsCheckpointStateOutputStream } from './fs-state-stream.js';
import {
  checkpointDirectoryForJob,
  exclusiveDirectoryOf,
  SHARED_STATE_DIRECTORY,
  TASK_OWNED_STATE_DIRECTORY,
} from './layout.js';
import {
  CheckpointStorageLocationReference,
  decodePathFromReference,
  encodePathAsReference,
} from './location-reference.js';

/** What a {@link FsCheckpointStorage} is made with. */
export interface FsCheckpointStorageOptions extends FsStorageOptions, FileStateSettings {
  /** The directory of all checkpoints. Handles and pointers have it as it is written here. */
  readonly checkpointDirectory: Path;
  /** Whether the job gets a directory of its own there (`execution.checkpointing.create-subdir`); default true. */
  readonly createSubdirectory?: boolean;
}

/**
 * Keeps state and metadata in files below one directory.
 * @example
 * const fileSystems = createFileSystems({ configuration: new Map() });
 * const checkpointDirectory = Path.parse('file:/checkpoints');
 * const storage = new FsCheckpointStorage({ fileSystems, jobId: 'ac2b9833d8854441eaabf09eca054206', checkpointDirectory });
 * await storage.initializeBaseLocations();
 * const location = await storage.initializeLocationForCheckpoint(1n);
 */
export class FsCheckpointStorage extends AbstractFsCheckpointStorage {
  /** The directory of the job. */
  readonly checkpointsDirectory: Path;
  readonly sharedStateDirectory: Path;
  readonly taskOwnedStateDirectory: Path;
  readonly #settings: Required<FileStateSettings>;

  /** @throws UsageError for impossible settings, InvalidPathError for a directory that no handle could name */
  constructor(options: FsCheckpointStorageOptions) {
    super(options);
    const base = nameable(options.checkpointDirectory);
    this.checkpointsDirectory =
      options.createSubdirectory === false ? base : checkpointDirectoryForJob(base, this.jobId);
    this.sharedStateDirectory = this.checkpointsDirectory.child(SHARED_STATE_DIRECTORY);
    this.taskOwnedStateDirectory = this.checkpointsDirectory.child(TASK_OWNED_STATE_DIRECTORY);
    this.#settings = checkFileStateSettings(options);
  }

  supportsHighlyAvailableStorage(): boolean {
    return true;
  }

  async initializeBaseLocations(): Promise<void> {
    const fileSystem = await this.#fileSystem();
    await fileSystem.makeDirectory(fileSystem.qualify(this.sharedStateDirectory));
    await fileSystem.makeDirectory(fileSystem.qualify(this.taskOwnedStateDirectory));
  }

  async initializeLocationForCheckpoint(checkpointId: bigint): Promise<FsCheckpointStorageLocation> {
    checkCheckpointId(checkpointId);
    const fileSystem = await this.#fileSystem();
    const location = this.#locationOf(fileSystem, checkpointId);
    await fileSystem.makeDirectory(fileSystem.qualify(location.checkpointDirectory));
    return location;
  }

  async resolveCheckpointStorageLocation(
    checkpointId: bigint,
    reference: CheckpointStorageLocationReference,
  ): Promise<FsCheckpointStorageLocation> {
    if (reference.isDefault) return this.#locationOf(await this.#fileSystem(), checkpointId);
    const directory = decodePathFromReference(reference);
    return this.#flatLocation(await this.fileSystems.get(directory), directory, reference);
  }

  async createTaskOwnedStateStream(): Promise<FsCheckpointStateOutputStream> {
    const fileSystem = await this.#fileSystem();
    return new FsCheckpointStateOutputStream(fileSystem, this.taskOwnedStateDirectory, 'absolute', this.#settings);
  }

  protected override createSavepointLocation(fileSystem: FileSystem, directory: Path): FsCheckpointStorageLocation {
    return this.#flatLocation(fileSystem, directory, encodePathAsReference(directory));
  }

  override toString(): string {
    return `FsCheckpointStorage {checkpointsDirectory=${this.checkpointsDirectory}, defaultSavepointDirectory=${this.defaultSavepointDirectory ?? '(none)'}, fileStateSizeThreshold=${this.#settings.fileStateSizeThreshold}}`;
  }

  #fileSystem(): Promise<FileSystem> {
    return this.fileSystems.get(this.checkpointsDirectory);
  }

  #locationOf(fileSystem: FileSystem, checkpointId: bigint): FsCheckpointStorageLocation {
    const directories = {
      checkpointDirectory: exclusiveDirectoryOf(this.checkpointsDirectory, checkpointId),
      sharedStateDirectory: this.sharedStateDirectory,
      taskOwnedStateDirectory: this.taskOwnedStateDirectory,
    };
    const reference = CheckpointStorageLocationReference.default;
    return new FsCheckpointStorageLocation(fileSystem, directories, reference, this.#settings);
  }

  /** Everything in one directory, as in savepoints. */
  #flatLocation(
    fileSystem: FileSystem,
    directory: Path,
    reference: CheckpointStorageLocationReference,
  ): FsCheckpointStorageLocation {
    const directories = {
      checkpointDirectory: directory,
      sharedStateDirectory: directory,
      taskOwnedStateDirectory: directory,
    };
    return new FsCheckpointStorageLocation(fileSystem, directories, reference, this.#settings);
  }
}
