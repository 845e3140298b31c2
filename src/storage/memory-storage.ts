/**
 * Checkpoints whose state is part of their metadata, and whose metadata is in a file only if a directory is configured.
 * Origin: Flink `MemoryBackendCheckpointStorageAccess`, the storage of the option value `jobmanager`.
 */
import { UsageError } from '../errors.js';
import type { FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import { AbstractFsCheckpointStorage, type FsStorageOptions, nameable } from './abstract-fs-storage.js';
import { checkCheckpointId } from './checkpoint-id.js';
import type { CheckpointStorageLocation } from './checkpoint-storage.js';
import { checkpointDirectoryForJob, exclusiveDirectoryOf } from './layout.js';
import type { CheckpointStorageLocationReference } from './location-reference.js';
import { MemCheckpointStreamFactory, MemoryCheckpointOutputStream } from './memory-streams.js';
import {
  NonPersistentMetadataCheckpointStorageLocation,
  PersistentMetadataCheckpointStorageLocation,
} from './metadata-locations.js';

/** One piece of state may have so many bytes, unless something else is asked for: 5 MiB. */
export const DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024;

/** What a {@link MemoryBackendCheckpointStorage} is made with. */
export interface MemoryBackendCheckpointStorageOptions extends FsStorageOptions {
  /** The directory of all checkpoints; default: metadata is kept in memory too. */
  readonly checkpointDirectory?: Path | undefined;
  /** Whether the job gets a directory of its own there (`execution.checkpointing.create-subdir`); default true. */
  readonly createSubdirectory?: boolean;
  /** Bytes that one piece of state may have, above 0; default 5 MiB. */
  readonly maxStateSize?: number;
}

/** See the module. */
export class MemoryBackendCheckpointStorage extends AbstractFsCheckpointStorage {
  /** The directory of the job, if metadata goes to files. */
  readonly checkpointsDirectory: Path | undefined;
  readonly maxStateSize: number;

  /** @throws UsageError for impossible settings, InvalidPathError for a directory that no pointer could name */
  constructor(options: MemoryBackendCheckpointStorageOptions) {
    super(options);
    const { checkpointDirectory, maxStateSize = DEFAULT_MAX_STATE_SIZE } = options;
    if (!Number.isSafeInteger(maxStateSize) || maxStateSize <= 0) {
      throw new UsageError(`maxStateSize is ${maxStateSize}, it must be a number of bytes above 0`, { maxStateSize });
    }
    this.maxStateSize = maxStateSize;
    const base = checkpointDirectory && nameable(checkpointDirectory);
    this.checkpointsDirectory =
      base === undefined || options.createSubdirectory === false ? base : checkpointDirectoryForJob(base, this.jobId);
  }

  supportsHighlyAvailableStorage(): boolean {
    return this.checkpointsDirectory !== undefined;
  }

  /** Makes nothing: no checkpoint has files in common with another one here. */
  async initializeBaseLocations(): Promise<void> {}

  async initializeLocationForCheckpoint(checkpointId: bigint): Promise<CheckpointStorageLocation> {
    checkCheckpointId(checkpointId);
    const { checkpointsDirectory, maxStateSize } = this;
    if (checkpointsDirectory === undefined) return new NonPersistentMetadataCheckpointStorageLocation(maxStateSize);
    const fileSystem = await this.fileSystems.get(checkpointsDirectory);
    const directory = exclusiveDirectoryOf(checkpointsDirectory, checkpointId);
    await fileSystem.makeDirectory(fileSystem.qualify(directory));
    return new PersistentMetadataCheckpointStorageLocation(fileSystem, directory, maxStateSize);
  }

  /** In memory, whatever the reference says. */
  async resolveCheckpointStorageLocation(
    _checkpointId: bigint,
    _reference: CheckpointStorageLocationReference,
  ): Promise<MemCheckpointStreamFactory> {
    return new MemCheckpointStreamFactory(this.maxStateSize);
  }

  async createTaskOwnedStateStream(): Promise<MemoryCheckpointOutputStream> {
    return new MemoryCheckpointOutputStream(this.maxStateSize);
  }

  protected override createSavepointLocation(fileSystem: FileSystem, directory: Path): CheckpointStorageLocation {
    return new PersistentMetadataCheckpointStorageLocation(fileSystem, directory, this.maxStateSize);
  }

  override toString(): string {
    return `MemoryBackendCheckpointStorage {checkpointsDirectory=${this.checkpointsDirectory ?? '(none)'}, defaultSavepointDirectory=${this.defaultSavepointDirectory ?? '(none)'}, maxStateSize=${this.maxStateSize}}`;
  }
}
