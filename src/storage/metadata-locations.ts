/**
 * Where a checkpoint goes whose state is in memory: only its metadata is stored, in a file or nowhere.
 * Origin: Flink `PersistentMetadataCheckpointStorageLocation`, `NonPersistentMetadataCheckpointStorageLocation`.
 */
import { randomUUID } from 'node:crypto';
import { StreamClosedError } from '../errors.js';
import type { FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { ByteStreamStateHandle } from '../model/state-handles.js';
import type {
  CheckpointMetadataOutputStream,
  CheckpointStorageLocation,
  CompletedCheckpointStorageLocation,
} from './checkpoint-storage.js';
import { deleteRecursively } from './delete.js';
import { FsCheckpointMetadataOutputStream } from './fs-metadata-stream.js';
import { METADATA_FILE_NAME } from './layout.js';
import { CheckpointStorageLocationReference } from './location-reference.js';
import { ByteCollector, MemCheckpointStreamFactory } from './memory-streams.js';

/** The pointer of a checkpoint that exists in memory only. */
export const NOT_EXTERNALLY_ADDRESSABLE = '<checkpoint-not-externally-addressable>';

/** State in memory, metadata in a file. */
export class PersistentMetadataCheckpointStorageLocation
  extends MemCheckpointStreamFactory
  implements CheckpointStorageLocation
{
  readonly locationReference = CheckpointStorageLocationReference.default;

  /** @param maxStateSize bytes that one piece of state may have */
  constructor(
    private readonly fileSystem: FileSystem,
    readonly exclusiveDirectory: Path,
    maxStateSize: number,
  ) {
    super(maxStateSize);
  }

  createMetadataOutputStream(): Promise<FsCheckpointMetadataOutputStream> {
    const { fileSystem, exclusiveDirectory } = this;
    const metadataPath = exclusiveDirectory.child(METADATA_FILE_NAME);
    return FsCheckpointMetadataOutputStream.open(fileSystem, metadataPath, exclusiveDirectory);
  }

  disposeOnFailure(): Promise<void> {
    return deleteRecursively(this.fileSystem, this.fileSystem.qualify(this.exclusiveDirectory));
  }
}

/** State and metadata in memory: nothing is stored, and nothing can be restored once the process has ended. */
export class NonPersistentMetadataCheckpointStorageLocation
  extends MemCheckpointStreamFactory
  implements CheckpointStorageLocation
{
  readonly locationReference = CheckpointStorageLocationReference.default;
  readonly exclusiveDirectory = undefined;

  async createMetadataOutputStream(): Promise<CheckpointMetadataOutputStream> {
    return new MemoryMetadataOutputStream();
  }

  async disposeOnFailure(): Promise<void> {}
}

class MemoryMetadataOutputStream implements CheckpointMetadataOutputStream {
  readonly #contents = new ByteCollector();
  #isClosed = false;

  get position(): number {
    return this.#contents.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    this.#contents.append(chunk);
  }

  async closeAndFinalizeCheckpoint(): Promise<CompletedCheckpointStorageLocation> {
    this.#checkOpen();
    this.#isClosed = true;
    const bytes = this.#contents.drain();
    return new NonPersistentLocation({ type: 'ByteStreamStateHandle', handleName: randomUUID(), bytes });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#contents.drain();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StreamClosedError('metadata in memory');
  }
}

class NonPersistentLocation implements CompletedCheckpointStorageLocation {
  readonly externalPointer = NOT_EXTERNALLY_ADDRESSABLE;
  readonly exclusiveDirectory = undefined;

  constructor(readonly metadataHandle: ByteStreamStateHandle) {}

  async disposeStorageLocation(): Promise<void> {}
}
