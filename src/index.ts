/**
 * The library behind `ckpt`: reads, checks and manages the checkpoints and savepoints of Apache Flink.
 *
 * @packageDocumentation
 */

export type { RangedBytes } from './bytes/byte-reader.js';
export {
  type Checkpoint,
  type DiscardAsyncOptions,
  type DiscardObject,
  NOOP_DISCARD_OBJECT,
} from './checkpoint/checkpoint.js';
export { CompletedCheckpoint, type CompletedCheckpointOptions } from './checkpoint/completed-checkpoint.js';
export { type DiscardContext, discardState, type StateHandle } from './checkpoint/discard-handle.js';
export { CHECKPOINT_FAILURE_REASONS, type CheckpointFailureReason } from './checkpoint/failure-reason.js';
export {
  disposeSavepoint,
  type LoadCheckpointOptions,
  loadCheckpoint,
  loadCheckpointMetadata,
} from './checkpoint/load-checkpoint.js';
export type { Logger } from './checkpoint/logger.js';
export {
  type FinalizeOptions,
  PendingCheckpoint,
  type PendingCheckpointOptions,
} from './checkpoint/pending-checkpoint.js';
export type {
  AcknowledgeResult,
  CheckpointPlan,
  CheckpointTask,
  CoordinatorInfo,
  OperatorIdentity,
  SubtaskState,
  TaskStateSnapshot,
} from './checkpoint/pending-state.js';
export * from './errors.js';
export type {
  AtomicOptions,
  AtomicWriter,
  ByteSource,
  DirectoryEntry,
  FileStatus,
  FileSystem,
  FileSystemKind,
  FileType,
} from './filesystem/file-system.js';
export { LocalFileSystem, type LocalFileSystemOptions } from './filesystem/local.js';
export { mapFileSystems } from './filesystem/map.js';
export { MemoryFileSystem, type MemoryFileSystemOptions } from './filesystem/memory.js';
export { Path, type PathParts } from './filesystem/path.js';
export { PathMapping } from './filesystem/path-mapping.js';
export {
  createFileSystems,
  type FileSystemLoader,
  type FileSystemSettings,
  type FileSystems,
} from './filesystem/registry.js';
export { operatorIdOfUid } from './format/hash/operator-id.js';
export { classifyUid, type UidEvidence, type UidVerdict } from './format/hash/uid-verdict.js';
export { readCheckpointProperties, writeCheckpointProperties } from './format/java/properties.js';
export { MetadataEncoder, writeMetadata } from './format/metadata/metadata-encoder.js';
export { loadMetadata, parseMetadata } from './format/metadata/model-reader.js';
export { type ModelConsumer, ModelVisitor } from './format/metadata/model-visitor.js';
export {
  loadMetadataHeader,
  type MetadataStart,
  type VisitOptions,
  visitMetadata,
  visitMetadataBytes,
} from './format/metadata/read.js';
export { Int64Words, MetadataVisitor } from './format/metadata/visitor.js';
export * from './model/checkpoint-metadata.js';
export * from './model/checkpoint-properties.js';
export * from './model/state-handles.js';
export * from './model/state-sizes.js';
export { type AssembleResult, assembleMetadata, type PatchableSink } from './operations/assemble.js';
export { type ContentsDiffOptions, diffContents } from './operations/contents-diff/diff-contents.js';
export type * from './operations/contents-diff/result.js';
export {
  type CopyOptions,
  type CopyPreview,
  type CopyResult,
  copyCheckpoint,
  planCopy,
} from './operations/copy/copy.js';
export { type DiffOptions, diffCheckpoints } from './operations/diff/diff.js';
export { type ExecuteOptions, executePlan } from './operations/discard/execute.js';
export { type PlanOptions, planDiscard } from './operations/discard/plan.js';
export { type DumpInput, type DumpOptions, dumpMetadata, type TextSink } from './operations/dump.js';
export {
  type EditedOperator,
  type EditPlan,
  type EditResult,
  type Edits,
  editMetadata,
  planEdits,
} from './operations/edit.js';
export { type GcSearch, type GcSearchOptions, searchGarbage } from './operations/gc/search.js';
export { type InspectInput, inspectMetadata } from './operations/inspect.js';
export type * from './operations/inspect-result.js';
export {
  type FoundCheckpoint,
  findLatest,
  type JobCheckpoints,
  type LatestOptions,
  type LatestResult,
  latestCheckpoint,
} from './operations/latest.js';
export { type ListOptions, listCheckpoints } from './operations/list/list.js';
export { readOffsets } from './operations/offsets/offsets.js';
export type * from './operations/offsets/result.js';
export { openMetadata, type ResolvedPointer, resolvePointer } from './operations/pointer.js';
export { type RebaseOptions, type RebaseResult, rebaseCheckpoint } from './operations/rebase.js';
export { createSavepoint, type SavepointResult } from './operations/savepoint.js';
export { type SavepointFromResult, savepointFrom } from './operations/savepoint-from.js';
export { type SqlRequest, type SqlResult, writeSql } from './operations/sql/write-sql.js';
export { type KeyQuery, keyQuery } from './operations/state/key-query.js';
export {
  type ListedOperator,
  type ListedState,
  listStates,
  type StatesResult,
} from './operations/state/list-states.js';
export {
  type ReadHandlers,
  type ReadRequest,
  type ReadResult,
  readState,
  type StateCount,
  type Undecoded,
} from './operations/state/read-state.js';
export type { Row } from './operations/state/rows.js';
export {
  type CheckpointVerification,
  type VerifyFault,
  type VerifyOptions,
  verifyCheckpoint,
} from './operations/verify.js';
export type * from './storage/checkpoint-storage.js';
export { FsCheckpointStorage, type FsCheckpointStorageOptions } from './storage/fs-storage.js';
export {
  CheckpointStorageLocationReference,
  decodePathFromReference,
  encodePathAsReference,
} from './storage/location-reference.js';
export {
  MemoryBackendCheckpointStorage,
  type MemoryBackendCheckpointStorageOptions,
} from './storage/memory-storage.js';
export { NOT_EXTERNALLY_ADDRESSABLE } from './storage/metadata-locations.js';
export { resolveCheckpointPointer } from './storage/resolve.js';
export {
  createSavepointDirectory,
  type SavepointDirectory,
  type SavepointDirectoryOptions,
} from './storage/savepoint-directory.js';
