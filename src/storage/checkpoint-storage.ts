/**
 * Where checkpoints go: the interfaces of Flink's checkpoint storages (`CheckpointStorageAccess` with both its views), their
 * locations and streams.
 */
import type { Path } from '../filesystem/path.js';
import type {
  ByteStreamStateHandle,
  CheckpointedStateScope,
  FileStateHandle,
  RelativeFileStateHandle,
} from '../model/state-handles.js';
import type { CheckpointStorageLocationReference } from './location-reference.js';

/** What a stream of state is turned into. */
export type WrittenStateHandle = ByteStreamStateHandle | FileStateHandle | RelativeFileStateHandle;

/**
 * Takes the bytes of one piece of state. Calls are made one after another; each waits for the one before. Whoever opens a
 * stream must call {@link closeAndGetHandle} or {@link close}.
 */
export interface CheckpointStateOutputStream {
  /** Bytes written so far. */
  readonly position: number;
  readonly isClosed: boolean;
  /**
   * Appends; the chunk is the caller's again when this resolves.
   * @throws StreamClosedError; the errors of the file system
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Hands buffered bytes on, unless they are so few that they may become part of the metadata. */
  flush(): Promise<void>;
  /**
   * The successful end: keeps what was written.
   * @returns null if nothing was ever written
   * @throws StreamClosedError if the stream was closed before, StateTooLargeError; if it fails nothing is left behind
   */
  closeAndGetHandle(): Promise<WrittenStateHandle | null>;
  /** The unsuccessful end: drops what was written. Idempotent, never throws; no-op after {@link closeAndGetHandle}. */
  close(): Promise<void>;
}

/** Takes the metadata of one checkpoint. Always makes a file (or what stands for it), however little is written. */
export interface CheckpointMetadataOutputStream {
  /** Bytes written so far. */
  readonly position: number;
  readonly isClosed: boolean;
  /** @throws StreamClosedError; the errors of the file system */
  write(chunk: Uint8Array): Promise<void>;
  /**
   * The successful end: from now on the checkpoint is complete.
   * @throws StreamClosedError if the stream was closed before; AlreadyExistsError; if it fails nothing is left behind
   */
  closeAndFinalizeCheckpoint(): Promise<CompletedCheckpointStorageLocation>;
  /** The unsuccessful end: drops what was written. Idempotent, never throws; no-op after the successful one. */
  close(): Promise<void>;
}

/** Opens streams for the state of one checkpoint. */
export interface CheckpointStreamFactory {
  /** @param scope whether other checkpoints may use the state too */
  createCheckpointStateOutputStream(scope: CheckpointedStateScope): Promise<CheckpointStateOutputStream>;
}

/** Where one checkpoint that is being taken is stored. */
export interface CheckpointStorageLocation extends CheckpointStreamFactory {
  /** What relative handles are relative to; undefined if there are no files. */
  readonly exclusiveDirectory: Path | undefined;
  /** What tasks are told about where to write. */
  readonly locationReference: CheckpointStorageLocationReference;
  /** @throws AlreadyExistsError if there is metadata already: it is never overwritten */
  createMetadataOutputStream(): Promise<CheckpointMetadataOutputStream>;
  /**
   * Removes everything at the location, whoever wrote it, because the checkpoint has failed.
   * @throws the first error of the file system, the others as its suppressed ones; what can be removed is removed
   */
  disposeOnFailure(): Promise<void>;
}

/** Where one complete checkpoint is stored. */
export interface CompletedCheckpointStorageLocation {
  /** What a job is restored with (`-s`): the directory, as it was written when the storage was made. */
  readonly externalPointer: string;
  readonly metadataHandle: FileStateHandle | ByteStreamStateHandle;
  /** What relative handles are relative to; undefined if there are no files. */
  readonly exclusiveDirectory: Path | undefined;
  /**
   * Removes the location itself after everything in it. A directory must be empty by then; one that is gone is no error.
   * @throws DirectoryNotEmptyError; other errors of the file system
   */
  disposeStorageLocation(): Promise<void>;
}

/** Makes and finds the locations of checkpoints and savepoints of one job. */
export interface CheckpointStorage {
  /** True if checkpoints outlive the process that took them. */
  supportsHighlyAvailableStorage(): boolean;
  hasDefaultSavepointLocation(): boolean;
  /**
   * Finds the checkpoint or savepoint at a pointer: its directory, or a metadata file of any name. Nothing is read yet.
   * @throws InvalidPathError, UnknownSchemeError, PointerNotFoundError, NoMetadataError; other errors of the file system
   */
  resolveCheckpoint(pointer: string): Promise<CompletedCheckpointStorageLocation>;
  /** Makes the directories that all checkpoints of the job have in common. Call it before the first checkpoint. */
  initializeBaseLocations(): Promise<void>;
  /**
   * Makes the location of a checkpoint; that it exists already is fine.
   * @throws UsageError for a negative number; the errors of the file system
   */
  initializeLocationForCheckpoint(checkpointId: bigint): Promise<CheckpointStorageLocation>;
  /**
   * Makes a new directory for a savepoint, see `savepoint-directory.ts`.
   * @param externalPointer below which directory; default: the configured one
   * @throws UsageError if there is neither; SavepointDirectoryError, InvalidPathError, UnknownSchemeError
   */
  initializeLocationForSavepoint(checkpointId: bigint, externalPointer?: string): Promise<CheckpointStorageLocation>;
  /**
   * What a task does with the reference that it got: finds the place that the reference means. Makes nothing.
   * @throws InvalidLocationReferenceError, UnknownSchemeError
   */
  resolveCheckpointStorageLocation(
    checkpointId: bigint,
    reference: CheckpointStorageLocationReference,
  ): Promise<CheckpointStreamFactory>;
  /** Opens a stream for state that no checkpoint owns, such as a write-ahead log: the task deletes it. */
  createTaskOwnedStateStream(): Promise<CheckpointStateOutputStream>;
}
