/**
 * What all checkpoint storages have in common that keep metadata in file systems.
 * Origin: Flink `AbstractFsCheckpointStorageAccess`.
 */
import { InvalidPathError, UsageError } from '../errors.js';
import type { FileSystem } from '../filesystem/file-system.js';
import { Path } from '../filesystem/path.js';
import type { FileSystems } from '../filesystem/registry.js';
import type {
  CheckpointStateOutputStream,
  CheckpointStorage,
  CheckpointStorageLocation,
  CheckpointStreamFactory,
  CompletedCheckpointStorageLocation,
} from './checkpoint-storage.js';
import { parseJobId } from './layout.js';
import type { CheckpointStorageLocationReference } from './location-reference.js';
import { resolveCheckpointPointer } from './resolve.js';
import { createSavepointDirectory, type SavepointDirectoryOptions } from './savepoint-directory.js';

/** What every storage in file systems is made with. */
export interface FsStorageOptions {
  readonly fileSystems: FileSystems;
  /** 32 hex digits. */
  readonly jobId: string;
  /** Where savepoints go if nobody says where. */
  readonly savepointDirectory?: Path | undefined;
  /** Random bytes for names of savepoint directories; default `node:crypto`. */
  readonly random?: SavepointDirectoryOptions['random'];
}

/** Resolves pointers and makes directories for savepoints; everything else is up to the kind of storage. */
export abstract class AbstractFsCheckpointStorage implements CheckpointStorage {
  /** In lower case. */
  readonly jobId: string;
  readonly defaultSavepointDirectory: Path | undefined;
  protected readonly fileSystems: FileSystems;
  readonly #random: SavepointDirectoryOptions['random'];

  /** @throws UsageError for an impossible job id, InvalidPathError for a directory that no handle could name */
  protected constructor(options: FsStorageOptions) {
    this.jobId = parseJobId(options.jobId);
    this.fileSystems = options.fileSystems;
    this.defaultSavepointDirectory = options.savepointDirectory && nameable(options.savepointDirectory);
    this.#random = options.random;
  }

  hasDefaultSavepointLocation(): boolean {
    return this.defaultSavepointDirectory !== undefined;
  }

  resolveCheckpoint(pointer: string): Promise<CompletedCheckpointStorageLocation> {
    return resolveCheckpointPointer(this.fileSystems, pointer);
  }

  async initializeLocationForSavepoint(
    _checkpointId: bigint,
    externalPointer?: string,
  ): Promise<CheckpointStorageLocation> {
    const base = externalPointer === undefined ? this.defaultSavepointDirectory : Path.parse(externalPointer);
    if (base === undefined) {
      throw new UsageError('no directory for the savepoint was given, and no default directory is configured');
    }
    const fileSystem = await this.fileSystems.get(base);
    const { directory } = await createSavepointDirectory(fileSystem, base, this.jobId, {
      ...(this.#random !== undefined && { random: this.#random }),
    });
    return this.createSavepointLocation(fileSystem, nameable(directory));
  }

  abstract supportsHighlyAvailableStorage(): boolean;
  abstract initializeBaseLocations(): Promise<void>;
  abstract initializeLocationForCheckpoint(checkpointId: bigint): Promise<CheckpointStorageLocation>;
  abstract resolveCheckpointStorageLocation(
    checkpointId: bigint,
    reference: CheckpointStorageLocationReference,
  ): Promise<CheckpointStreamFactory>;
  abstract createTaskOwnedStateStream(): Promise<CheckpointStateOutputStream>;

  /** The location of a savepoint whose directory has just been made. */
  protected abstract createSavepointLocation(fileSystem: FileSystem, directory: Path): CheckpointStorageLocation;
}

/**
 * The path itself.
 * @throws InvalidPathError if its printed form would be another path: handles keep the printed form
 */
export function nameable(path: Path): Path {
  if (!path.isFaithful) throw new InvalidPathError(path.toString(), 'it cannot be written as a path string');
  return path;
}
