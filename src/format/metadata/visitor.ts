/**
 * What the decoder reports while it goes through a metadata file. Views and slices are reused: they are valid during the
 * call only, and nothing is decoded or copied unless a visitor does it, so that a file of hundreds of MB makes no garbage.
 */
import { Utf8Slice } from '../../bytes/byte-reader.js';
import type { MetadataHeader } from '../../model/checkpoint-metadata.js';
import type { CheckpointedStateScope, DistributionMode } from '../../model/state-handles.js';
import { Tag } from './tags.js';

/** Where a stream handle stands. */
export const Role = {
  Coordinator: 0,
  OperatorDelegate: 1,
  KeyGroupsDelegate: 2,
  Meta: 3,
  Shared: 4,
  Private: 5,
  ChangelogFile: 6,
  ChannelDelegate: 7,
} as const;
export type Role = (typeof Role)[keyof typeof Role];

/** The six kinds of state of a subtask, in the order of the file. */
export const Slot = {
  ManagedOperator: 0,
  RawOperator: 1,
  ManagedKeyed: 2,
  RawKeyed: 3,
  InputChannel: 4,
  ResultSubpartition: 5,
} as const;
export type Slot = (typeof Slot)[keyof typeof Slot];

/** The lists inside keyed handles. */
export const HandleList = {
  Shared: 0,
  Private: 1,
  Materialized: 2,
  NonMaterialized: 3,
  ChangelogFiles: 4,
  Changes: 5,
} as const;
export type HandleList = (typeof HandleList)[keyof typeof HandleList];

/** A 64-bit number as two: the high word signed, the low word unsigned. */
export class Int64Words {
  high = 0;
  low = 0;

  /** The exact value. */
  toBigInt(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  /** The nearest double; exact below 2^53. */
  toNumber(): number {
    return this.high * 0x100000000 + this.low;
  }
}

/** A master state up to its payload. */
export class MasterStateView {
  readonly name = new Utf8Slice();
  version = 0;
  /** Bytes of the payload; they follow as {@link MetadataVisitor.data}. */
  dataLength = 0;
}

/** An operator up to its coordinator state. */
export class OperatorView {
  /** Empty where absent and before version 5. */
  readonly name = new Utf8Slice();
  readonly uid = new Utf8Slice();
  operatorId = '';
  parallelism = 0;
  maxParallelism = 0;
  /** Version 2: the dead field; else 1. */
  chainLength = 1;
}

/** A subtask entry up to its state. */
export class SubtaskView {
  index = 0;
  finished = false;
  /** Version 2: the dead field; else -1. */
  readonly duration = new Int64Words();
}

/** A stream handle; which fields count depends on `tag`. */
export class StreamHandleView {
  tag: number = Tag.Null;
  role: Role = Role.Meta;
  /** Local name of the file; for the roles Shared and Private. */
  readonly localPath = new Utf8Slice();
  /** Offset of the changes in the file; for the role ChangelogFile. */
  readonly changelogOffset = new Int64Words();
  /** The handle's name (inline), its path (file, segment) or its relative path. */
  readonly path = new Utf8Slice();
  readonly logicalFileId = new Utf8Slice();
  /** Recorded size; for inline bytes their number. */
  readonly size = new Int64Words();
  readonly startPos = new Int64Words();
  scope: CheckpointedStateScope = 'EXCLUSIVE';
  /** Bytes of inline data; they follow as {@link MetadataVisitor.data}. */
  dataLength = 0;
}

/** A range of key groups as stored. */
export class RangeView {
  start = 0;
  count = 0;
}

/** An operator handle up to its states. */
export class OperatorHandleView {
  slot: Slot = Slot.ManagedOperator;
  tag = 0;
  /** The number in the file that says that there is a handle; 1 unless odd. */
  presence = 1;
  states = 0;
}

/** A named operator state; its offsets follow. */
export class StateMetaInfoView {
  readonly name = new Utf8Slice();
  mode: DistributionMode = 'SPLIT_DISTRIBUTE';
  offsets = 0;
}

/** The two directories of a merged operator handle. */
export class MergedDirectoriesView {
  readonly taskOwned = new Utf8Slice();
  readonly shared = new Utf8Slice();
  /** The stored byte: 0 or 1 unless odd. */
  isEmpty = 0;
}

/** A keyed handle. Fields from `materializationId` on are known only at its end. */
export class KeyedHandleView {
  slot: Slot = Slot.ManagedKeyed;
  tag = 0;
  /** 0 in the slot itself, 1 inside a changelog handle, and so on. */
  depth = 0;
  readonly range = new RangeView();
  readonly checkpointId = new Int64Words();
  readonly backendIdentifier = new Utf8Slice();
  /** False where the form has no checkpointed size. */
  hasCheckpointedSize = false;
  readonly checkpointedSize = new Int64Words();
  /** Sequence numbers of an in-memory changelog. */
  readonly from = new Int64Words();
  readonly to = new Int64Words();
  /** Recorded size of a changelog of files. */
  readonly size = new Int64Words();
  hasMaterializationId = false;
  readonly materializationId = new Int64Words();
  hasCheckpointId = false;
  hasStateHandleId = false;
  readonly stateHandleId = new Utf8Slice();
  hasStorageIdentifier = false;
  readonly storageIdentifier = new Utf8Slice();
}

/** A channel handle. `size` of the plain kinds is known only at its end. */
export class ChannelHandleView {
  slot: Slot = Slot.InputChannel;
  merged = false;
  /** False in the form of Flink 1.11. */
  hasSubtaskIndex = true;
  subtaskIndex = 0;
  outerIndex = 0;
  innerIndex = 0;
  offsets = 0;
  readonly size = new Int64Words();
}

/** Override what you need. Calls come in the order of the file. */
export class MetadataVisitor {
  header(_header: MetadataHeader): void {}
  /** `data` follows. */
  masterState(_view: MasterStateView): void {}
  operatorCount(_count: number): void {}
  /** The coordinator state follows as a stream handle (of the null tag if there is none), then {@link subtaskCount}. */
  beginOperator(_view: OperatorView): void {}
  /** Negative: the operator is finished, nothing but {@link endOperator} follows. */
  subtaskCount(_count: number): void {}
  beginSubtask(_view: SubtaskView): void {}
  endSubtask(): void {}
  endOperator(): void {}

  /** States with their offsets follow, then directories (merged), the delegate, {@link endOperatorHandle}. */
  beginOperatorHandle(_view: OperatorHandleView): void {}
  /** `offsets` follow, unless there are none. */
  stateMetaInfo(_view: StateMetaInfoView): void {}
  mergedDirectories(_view: MergedDirectoriesView): void {}
  endOperatorHandle(): void {}

  /** For kinds with key-group offsets `offsets` follow. */
  beginKeyedHandle(_view: KeyedHandleView): void {}
  /** The elements follow: stream handles, keyed handles, changes. */
  beginList(_list: HandleList, _count: number): void {}
  /** A null entry of the materialized list. */
  nullKeyedHandle(): void {}
  /** `data` follows. */
  stateChange(_keyGroup: number, _length: number): void {}
  endKeyedHandle(_view: KeyedHandleView): void {}

  /** `offsets` follow (plain kinds), the delegate, `data` with the channel offsets (merged kinds), the end. */
  beginChannelHandle(_view: ChannelHandleView): void {}
  /** Merged kinds: bytes of the channel offsets; `data` follows. */
  channelOffsets(_length: number): void {}
  endChannelHandle(_view: ChannelHandleView): void {}

  /** For inline bytes `data` follows. */
  streamHandle(_view: StreamHandleView): void {}
  /** Key groups where a stream handle stands: `offsets` follow, then the inner stream handle, then the end. */
  beginStreamKeyGroups(_role: Role, _view: StreamHandleView, _range: RangeView): void {}
  endStreamKeyGroups(): void {}

  /** `count` big-endian 64-bit numbers from `view` at byte `start` on; a run may come in several calls. */
  offsets(_bytes: Uint8Array, _start: number, _count: number): void {}
  /** The next bytes of what was announced, [start, end) of `bytes`; one call at least, also for no bytes. */
  data(_bytes: Uint8Array, _start: number, _end: number): void {}

  /** Version 4 and later: the Java object stream, [start, end) of `bytes`. */
  properties(_bytes: Uint8Array, _start: number, _end: number): void {}
  /** How many bytes follow the last field; `data` follows unless there are none. */
  trailing(_length: number): void {}
}
