/**
 * The state handles that a metadata file names, as plain data with Flink's class and field names. Strings are as the file
 * has them (paths not normalised), sizes and offsets are 64 bits wide. What a handle's visible fields cannot express but
 * exact writing needs stands in its `wire`.
 */

/** Bytes of a string field that re-encoding its text would change, by field name. */
export type RawStrings = Readonly<Record<string, Uint8Array>>;

/** A contiguous range of key groups as stored: Flink's `KeyGroupRange`, last = start + number - 1. */
export interface KeyGroupRange {
  readonly startKeyGroup: number;
  readonly numberOfKeyGroups: number;
}

/** Flink's `CheckpointedStateScope`, in the order of its ordinals. */
export const SCOPES = ['EXCLUSIVE', 'SHARED'] as const;
export type CheckpointedStateScope = (typeof SCOPES)[number];

/** Flink's `OperatorStateHandle.Mode`, in the order of its ordinals. */
export const DISTRIBUTION_MODES = ['SPLIT_DISTRIBUTE', 'UNION', 'BROADCAST'] as const;
export type DistributionMode = (typeof DISTRIBUTION_MODES)[number];

/** State whose bytes are in the metadata itself. The name is an identity only; it may look like a path but names no file. */
export interface ByteStreamStateHandle {
  readonly type: 'ByteStreamStateHandle';
  readonly handleName: string;
  readonly bytes: Uint8Array;
  readonly wire?: { readonly utf?: RawStrings };
}

/** A file by its absolute path. `stateSize` is its length in bytes, -1 if unknown. */
export interface FileStateHandle {
  readonly type: 'FileStateHandle';
  readonly filePath: string;
  readonly stateSize: bigint;
  readonly wire?: { readonly utf?: RawStrings };
}

/** A file by its path relative to the directory that holds the metadata file. */
export interface RelativeFileStateHandle {
  readonly type: 'RelativeFileStateHandle';
  readonly relativePath: string;
  readonly stateSize: bigint;
  readonly wire?: { readonly utf?: RawStrings };
}

/** `stateSize` bytes from `startPos` on of a merged file. */
export interface SegmentFileStateHandle {
  readonly type: 'SegmentFileStateHandle';
  readonly filePath: string;
  readonly startPos: bigint;
  readonly stateSize: bigint;
  readonly scope: CheckpointedStateScope;
  readonly logicalFileId: string;
  readonly wire?: { readonly utf?: RawStrings };
}

/** The placeholder of file merging: no file, no bytes. */
export interface EmptySegmentFileStateHandle {
  readonly type: 'EmptySegmentFileStateHandle';
}

/** Offsets of key groups in a stream. `stateHandleId` is null where the file stores none (before Flink 1.15, or as a stream). */
export interface KeyGroupsStateHandle {
  readonly type: 'KeyGroupsStateHandle';
  readonly keyGroupRange: KeyGroupRange;
  /** One for each key group of the range. */
  readonly keyGroupOffsets: BigInt64Array;
  readonly stateHandleId: string | null;
  readonly delegateStateHandle: StreamStateHandle;
  readonly wire?: { readonly utf?: RawStrings };
}

/** Everything that can stand where Flink expects a `StreamStateHandle`. */
export type StreamStateHandle =
  | ByteStreamStateHandle
  | FileStateHandle
  | RelativeFileStateHandle
  | SegmentFileStateHandle
  | EmptySegmentFileStateHandle
  | KeyGroupsStateHandle;

/** Key-group offsets of a canonical savepoint. */
export interface KeyGroupsSavepointStateHandle {
  readonly type: 'KeyGroupsSavepointStateHandle';
  readonly keyGroupRange: KeyGroupRange;
  readonly keyGroupOffsets: BigInt64Array;
  readonly delegateStateHandle: StreamStateHandle;
}

/** A file of a RocksDB or ForSt instance under its local name. */
export interface HandleAndLocalPath {
  readonly localPath: string;
  readonly handle: StreamStateHandle;
  readonly wire?: { readonly utf?: RawStrings };
}

/** State of an incremental keyed backend: its files, one by one. */
export interface IncrementalRemoteKeyedStateHandle {
  readonly type: 'IncrementalRemoteKeyedStateHandle';
  readonly checkpointId: bigint;
  /** As stored; a UUID unless an old Flink wrote it. */
  readonly backendIdentifier: string;
  readonly keyGroupRange: KeyGroupRange;
  /** Bytes that this checkpoint added; null in the form without it (before Flink 1.15), -1 if unknown. */
  readonly checkpointedSize: bigint | null;
  /** Null in the form without it (before Flink 1.15). */
  readonly stateHandleId: string | null;
  readonly metaStateHandle: StreamStateHandle;
  readonly sharedState: readonly HandleAndLocalPath[];
  readonly privateState: readonly HandleAndLocalPath[];
  readonly wire?: { readonly utf?: RawStrings };
}

/** What stands for a key group where a change is a metadata record: the least number there is. */
export const METADATA_KEY_GROUP = -1;

/** One change of an in-memory changelog. `keyGroup` may be {@link METADATA_KEY_GROUP}. */
export interface StateChange {
  readonly keyGroup: number;
  readonly change: Uint8Array;
}

/** Changes that are in the metadata itself. */
export interface InMemoryChangelogStateHandle {
  readonly type: 'InMemoryChangelogStateHandle';
  readonly keyGroupRange: KeyGroupRange;
  /** Sequence numbers, not negative. */
  readonly from: bigint;
  readonly to: bigint;
  readonly changes: readonly StateChange[];
  /** Null in the form of Flink 1.14. */
  readonly stateHandleId: string | null;
  readonly wire?: { readonly utf?: RawStrings };
}

/** A changelog file and where in it the changes start. */
export interface HandleAndOffset {
  readonly offset: bigint;
  readonly handle: StreamStateHandle | null;
}

/** Changes that are in files. Handles may be null: Flink loads such a file. */
export interface ChangelogStateHandleStreamImpl {
  readonly type: 'ChangelogStateHandleStreamImpl';
  readonly keyGroupRange: KeyGroupRange;
  readonly handlesAndOffsets: readonly HandleAndOffset[];
  readonly stateSize: bigint;
  /** Null in the form of Flink 1.14. */
  readonly checkpointedSize: bigint | null;
  readonly stateHandleId: string | null;
  /** Null in the forms without it (before Flink 1.16); Flink then takes `filesystem`. */
  readonly storageIdentifier: string | null;
  readonly wire?: { readonly utf?: RawStrings };
}

/** What Flink's `ChangelogStateHandle` stands for: the non-materialized part. */
export type ChangelogStateHandle = InMemoryChangelogStateHandle | ChangelogStateHandleStreamImpl;

/** State of a changelog backend: a materialized part and the changes since. */
export interface ChangelogStateBackendHandleImpl {
  readonly type: 'ChangelogStateBackendHandleImpl';
  readonly keyGroupRange: KeyGroupRange;
  /** Null in the form of Flink 1.14. */
  readonly checkpointedSize: bigint | null;
  /** Null entries are stored, and skipped by Flink. */
  readonly materializedStateHandles: readonly (KeyedStateHandle | null)[];
  readonly nonMaterializedStateHandles: readonly ChangelogStateHandle[];
  /** Null in the form of Flink 1.14. */
  readonly materializationID: bigint | null;
  /** Null in the forms without it (before Flink 1.16); Flink then takes the materialization id. */
  readonly checkpointId: bigint | null;
  readonly stateHandleId: string | null;
  readonly wire?: { readonly utf?: RawStrings };
}

/** Everything that can stand where Flink expects a `KeyedStateHandle`. */
export type KeyedStateHandle =
  | KeyGroupsStateHandle
  | KeyGroupsSavepointStateHandle
  | IncrementalRemoteKeyedStateHandle
  | ChangelogStateBackendHandleImpl
  | InMemoryChangelogStateHandle
  | ChangelogStateHandleStreamImpl;

/** Where the elements of one named operator state are in the delegate's bytes. */
export interface StateMetaInfo {
  readonly name: string;
  readonly distributionMode: DistributionMode;
  readonly offsets: BigInt64Array;
  readonly wire?: { readonly utf?: RawStrings };
}

/** Operator state of one subtask. States in the order of the file; a name may occur twice (Flink keeps the last). */
export interface OperatorStreamStateHandle {
  readonly type: 'OperatorStreamStateHandle';
  readonly stateNameToPartitionOffsets: readonly StateMetaInfo[];
  readonly delegateStateHandle: StreamStateHandle;
}

/** Operator state in a merged file, with the two directories that the job owns. */
export interface FileMergingOperatorStreamStateHandle {
  readonly type: 'FileMergingOperatorStreamStateHandle' | 'EmptyFileMergingOperatorStreamStateHandle';
  readonly stateNameToPartitionOffsets: readonly StateMetaInfo[];
  readonly taskOwnedDirectory: string;
  readonly sharedDirectory: string;
  readonly delegateStateHandle: SegmentFileStateHandle | EmptySegmentFileStateHandle;
  /** `isEmpty`: the stored byte where it is neither 0 nor 1. */
  readonly wire?: { readonly utf?: RawStrings; readonly isEmpty?: number };
}

/** Everything that can stand where Flink expects an `OperatorStateHandle`. */
export type OperatorStateHandle = OperatorStreamStateHandle | FileMergingOperatorStreamStateHandle;

/** In-flight data of one channel. */
interface ChannelStateHandleFields {
  /** Null in the form of Flink 1.11. */
  readonly subtaskIndex: number | null;
  /** Gate (input) or partition (output) index. */
  readonly outerIndex: number;
  /** Channel (input) or subpartition (output) index. */
  readonly innerIndex: number;
  readonly offsets: BigInt64Array;
  readonly stateSize: bigint;
  readonly delegate: StreamStateHandle;
}

/** In-flight data of one input channel: `outerIndex` is the gate's, `innerIndex` the channel's. */
export interface InputChannelStateHandle extends ChannelStateHandleFields {
  readonly type: 'InputChannelStateHandle';
}

/** In-flight data of one output: `outerIndex` is the partition's, `innerIndex` the subpartition's. */
export interface ResultSubpartitionStateHandle extends ChannelStateHandleFields {
  readonly type: 'ResultSubpartitionStateHandle';
}

/** In-flight data of one channel, either direction. */
export type ChannelStateHandle = InputChannelStateHandle | ResultSubpartitionStateHandle;

/** In-flight data of all channels of a subtask in one direction; `serializedChannelOffsets` tells them apart. */
interface MergedChannelStateHandleFields {
  readonly subtaskIndex: number;
  readonly stateSize: bigint;
  /** Null is stored by no Flink, but loaded. */
  readonly delegate: StreamStateHandle | null;
  readonly serializedChannelOffsets: Uint8Array;
}

export interface MergedInputChannelStateHandle extends MergedChannelStateHandleFields {
  readonly type: 'MergedInputChannelStateHandle';
}

export interface MergedResultSubpartitionStateHandle extends MergedChannelStateHandleFields {
  readonly type: 'MergedResultSubpartitionStateHandle';
}

/** In-flight data of all channels, either direction. */
export type MergedChannelStateHandle = MergedInputChannelStateHandle | MergedResultSubpartitionStateHandle;

/** Either form of channel state. */
export type AnyChannelStateHandle = ChannelStateHandle | MergedChannelStateHandle;
