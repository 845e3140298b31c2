/**
 * Metadata that goes to a file: atomically, and never over another one.
 * Origin: Flink `FsCheckpointMetadataOutputStream`, `FsCompletedCheckpointStorageLocation`.
 */
import { StreamClosedError } from '../errors.js';
import type { AtomicWriter, FileSystem } from '../filesystem/file-system.js';
import type { Path } from '../filesystem/path.js';
import type { FileStateHandle } from '../model/state-handles.js';
import type { CheckpointMetadataOutputStream, CompletedCheckpointStorageLocation } from './checkpoint-storage.js';

/** Writes one metadata file, which is there from the successful end on and not before. */
export class FsCheckpointMetadataOutputStream implements CheckpointMetadataOutputStream {
  #isClosed = false;

  private constructor(
    private readonly fileSystem: FileSystem,
    private readonly metadataPath: Path,
    private readonly exclusiveDirectory: Path,
    private readonly writer: AtomicWriter,
  ) {}

  /**
   * Starts a metadata file.
   * @param exclusiveDirectory that of the checkpoint, usually also that of the file
   * @throws AlreadyExistsError if there is one; other errors of the file system
   */
  static async open(
    fileSystem: FileSystem,
    metadataPath: Path,
    exclusiveDirectory: Path,
  ): Promise<FsCheckpointMetadataOutputStream> {
    const writer = await fileSystem.createAtomic(fileSystem.qualify(metadataPath));
    return new FsCheckpointMetadataOutputStream(fileSystem, metadataPath, exclusiveDirectory, writer);
  }

  get position(): number {
    return this.writer.position;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkOpen();
    await this.writer.write(chunk);
  }

  async closeAndFinalizeCheckpoint(): Promise<FsCompletedCheckpointStorageLocation> {
    this.#checkOpen();
    this.#isClosed = true;
    try {
      await this.writer.commit();
    } catch (error) {
      await this.writer.abort();
      throw error;
    }
    const { metadataPath } = this;
    const stateSize = BigInt(this.writer.position);
    return new FsCompletedCheckpointStorageLocation(
      this.fileSystem,
      this.exclusiveDirectory,
      { type: 'FileStateHandle', filePath: metadataPath.toString(), stateSize },
      (metadataPath.parent ?? metadataPath).toString(),
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.writer.abort();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StreamClosedError(this.metadataPath.toString());
  }
}

/** A directory with a metadata file. */
export class FsCompletedCheckpointStorageLocation implements CompletedCheckpointStorageLocation {
  constructor(
    private readonly fileSystem: FileSystem,
    readonly exclusiveDirectory: Path,
    readonly metadataHandle: FileStateHandle,
    readonly externalPointer: string,
  ) {}

  async disposeStorageLocation(): Promise<void> {
    await this.fileSystem.deleteDirectory(this.fileSystem.qualify(this.exclusiveDirectory));
  }
}
