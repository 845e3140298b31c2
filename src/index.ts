/**
 * The library behind `ckpt`: reads, checks and manages the checkpoints and savepoints of Apache Flink.
 *
 * @packageDocumentation
 */

export type { RangedBytes } from './bytes/byte-reader.js';
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
export { type DumpInput, type DumpOptions, dumpMetadata, type TextSink } from './operations/dump.js';
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
export { openMetadata, type ResolvedPointer, resolvePointer } from './operations/pointer.js';
