/** Builds the model from what the decoder reports: piece by piece for streams, or as a whole. */
import { copyBytes, type Utf8Slice } from '../../bytes/byte-reader.js';
import { encodeModifiedUtf8 } from '../../bytes/modified-utf8.js';
import type { MasterState, MetadataHeader, OperatorHead, SubtaskEntry } from '../../model/checkpoint-metadata.js';
import type {
  AnyChannelStateHandle,
  ByteStreamStateHandle,
  ChangelogStateHandle,
  HandleAndLocalPath,
  HandleAndOffset,
  KeyedStateHandle,
  KeyGroupRange,
  OperatorStateHandle,
  RawStrings,
  StateChange,
  StateMetaInfo,
  StreamStateHandle,
} from '../../model/state-handles.js';
import { Tag } from './tags.js';
import {
  type ChannelHandleView,
  HandleList,
  type KeyedHandleView,
  type MasterStateView,
  type MergedDirectoriesView,
  MetadataVisitor,
  type OperatorHandleView,
  type OperatorView,
  type RangeView,
  Role,
  Slot,
  type StateMetaInfoView,
  type StreamHandleView,
  type SubtaskView,
} from './visitor.js';

/** What a {@link ModelVisitor} hands on as soon as it is complete. */
export interface ModelConsumer {
  header?(header: MetadataHeader): void;
  masterState?(state: MasterState): void;
  operatorCount?(count: number): void;
  beginOperator?(head: OperatorHead): void;
  subtask?(entry: SubtaskEntry): void;
  endOperator?(): void;
  properties?(block: Uint8Array): void;
  /** Bytes after the end, in one or more pieces; not called if there are none. */
  trailing?(bytes: Uint8Array): void;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Collects the raw bytes of those strings whose text would be written differently. */
class RawStringCollector {
  private strings: Record<string, Uint8Array> | undefined;

  text(field: string, slice: Utf8Slice): string {
    const text = slice.text();
    if (!slice.plain) {
      const bytes = slice.bytes();
      if (Buffer.compare(bytes, encodeModifiedUtf8(text)) !== 0) {
        this.strings ??= Object.create(null) as Record<string, Uint8Array>;
        this.strings[field] = bytes;
      }
    }
    return text;
  }

  /** `{wire: {utf}}` or nothing, to be spread into the object. */
  wire(): { wire: { utf: RawStrings } } | Record<string, never> {
    return this.strings ? { wire: { utf: this.strings } } : {};
  }

  get utf(): { utf: RawStrings } | Record<string, never> {
    return this.strings ? { utf: this.strings } : {};
  }
}

/** Fills arrays of known length from runs of bytes. */
class Pending {
  private bytes: Uint8Array = new Uint8Array(0);
  private numbers: BigInt64Array = new BigInt64Array(0);
  private filled = 0;

  startBytes(length: number): Uint8Array {
    this.bytes = new Uint8Array(length);
    this.filled = 0;
    return this.bytes;
  }

  startNumbers(count: number): BigInt64Array {
    this.numbers = new BigInt64Array(count);
    this.filled = 0;
    return this.numbers;
  }

  addBytes(source: Uint8Array, start: number, end: number): void {
    this.bytes.set(source.subarray(start, end), this.filled);
    this.filled += end - start;
  }

  /** True once all bytes that were announced are there. */
  get hasAllBytes(): boolean {
    return this.filled === this.bytes.length;
  }

  addNumbers(source: Uint8Array, start: number, count: number): void {
    const view = new DataView(source.buffer, source.byteOffset + start, count * 8);
    for (let i = 0; i < count; i++) this.numbers[this.filled + i] = view.getBigInt64(i * 8);
    this.filled += count;
  }
}

/** A keyed handle that is being read: the lists so far. */
interface OpenKeyed {
  list: HandleList;
  readonly delegates: StreamStateHandle[];
  readonly shared: HandleAndLocalPath[];
  readonly private: HandleAndLocalPath[];
  readonly materialized: (KeyedStateHandle | null)[];
  readonly nonMaterialized: ChangelogStateHandle[];
  readonly files: HandleAndOffset[];
  readonly changes: StateChange[];
  offsets: BigInt64Array;
  readonly raw: RawStringCollector;
  backendIdentifier: string;
}

interface OpenStreamKeyGroups {
  readonly range: KeyGroupRange;
  readonly offsets: BigInt64Array;
  readonly place: (handle: StreamStateHandle) => void;
}

const rangeOf = (view: RangeView): KeyGroupRange => ({ startKeyGroup: view.start, numberOfKeyGroups: view.count });

/** See the file comment. */
export class ModelVisitor extends MetadataVisitor {
  private version = 0;
  private readonly pending = new Pending();
  /** A master state whose bytes are still coming. */
  private openMasterState: MasterState | undefined;
  private head: Writable<OperatorHead> | undefined;
  private headRaw = new RawStringCollector();
  private chainLength = 1;
  private subtaskView: { index: number; finished: boolean; duration: bigint } = {
    index: 0,
    finished: false,
    duration: -1n,
  };
  private slots: {
    operator: [OperatorStateHandle | null, OperatorStateHandle | null];
    presence: [number, number];
    keyed: [KeyedStateHandle | null, KeyedStateHandle | null];
    channels: [AnyChannelStateHandle[], AnyChannelStateHandle[]];
  } = ModelVisitor.emptySlots();
  private operatorHandle:
    | { slot: Slot; tag: number; states: StateMetaInfo[]; delegate: StreamStateHandle | undefined }
    | undefined;
  private directories: { taskOwned: string; shared: string; isEmpty: number; raw: RawStringCollector } | undefined;
  private readonly keyed: OpenKeyed[] = [];
  private readonly streamKeyGroups: OpenStreamKeyGroups[] = [];
  private channelDelegate: StreamStateHandle | null = null;
  private channelNumbers: BigInt64Array = new BigInt64Array(0);
  private channelBytes: Uint8Array = new Uint8Array(0);
  private readingTrailing = false;
  private readonly consumer: ModelConsumer;

  constructor(consumer: ModelConsumer) {
    super();
    this.consumer = consumer;
  }

  private static emptySlots(): ModelVisitor['slots'] {
    return { operator: [null, null], presence: [1, 1], keyed: [null, null], channels: [[], []] };
  }

  override header(header: MetadataHeader): void {
    this.version = header.version;
    this.consumer.header?.(header);
  }

  override masterState(view: MasterStateView): void {
    const raw = new RawStringCollector();
    const name = raw.text('name', view.name);
    const bytes = this.pending.startBytes(view.dataLength);
    this.openMasterState = { name, version: view.version, bytes, ...raw.wire() };
  }

  override operatorCount(count: number): void {
    this.consumer.operatorCount?.(count);
  }

  // ---------------------------------------------------------------- operators and subtasks

  override beginOperator(view: OperatorView): void {
    this.headRaw = new RawStringCollector();
    const name = this.headRaw.text('name', view.name);
    const uid = this.headRaw.text('uid', view.uid);
    this.chainLength = view.chainLength;
    this.head = {
      operatorId: view.operatorId,
      uid: uid === '' ? null : uid,
      name: name === '' ? null : name,
      parallelism: view.parallelism,
      maxParallelism: view.maxParallelism,
      finished: false,
      coordinatorState: null,
    };
  }

  override subtaskCount(count: number): void {
    const head = this.current(this.head);
    head.finished = count < 0;
    const wire = {
      ...this.headRaw.utf,
      ...(this.version === 2 && this.chainLength !== 1 ? { chainLength: this.chainLength } : {}),
      ...(count < -1 ? { subtaskCount: count } : {}),
    };
    if (Object.keys(wire).length > 0) head.wire = wire;
    this.consumer.beginOperator?.(head);
  }

  override endOperator(): void {
    this.consumer.endOperator?.();
  }

  override beginSubtask(view: SubtaskView): void {
    this.subtaskView = { index: view.index, finished: view.finished, duration: view.duration.toBigInt() };
    this.slots = ModelVisitor.emptySlots();
  }

  override endSubtask(): void {
    const { index, finished, duration } = this.subtaskView;
    if (finished) {
      this.consumer.subtask?.({ index, finished });
      return;
    }
    const { operator, keyed, channels, presence } = this.slots;
    const wire = {
      ...(this.version === 2 && duration !== -1n ? { duration } : {}),
      ...(presence[0] !== 1 ? { managedOperatorStatePresence: presence[0] } : {}),
      ...(presence[1] !== 1 ? { rawOperatorStatePresence: presence[1] } : {}),
    };
    this.consumer.subtask?.({
      index,
      finished,
      managedOperatorState: operator[0],
      rawOperatorState: operator[1],
      managedKeyedState: keyed[0],
      rawKeyedState: keyed[1],
      inputChannelState: channels[0],
      resultSubpartitionState: channels[1],
      ...(Object.keys(wire).length > 0 ? { wire } : {}),
    });
  }

  private current<T>(value: T | undefined): T {
    if (value === undefined) throw new Error('decoder reported a part without its whole');
    return value;
  }

  // ---------------------------------------------------------------- operator handles

  override beginOperatorHandle(view: OperatorHandleView): void {
    this.operatorHandle = { slot: view.slot, tag: view.tag, states: [], delegate: undefined };
    this.slots.presence[view.slot === Slot.ManagedOperator ? 0 : 1] = view.presence;
  }

  override stateMetaInfo(view: StateMetaInfoView): void {
    const raw = new RawStringCollector();
    const name = raw.text('name', view.name);
    const offsets = this.pending.startNumbers(view.offsets);
    const distributionMode = view.mode;
    this.current(this.operatorHandle).states.push({ name, distributionMode, offsets, ...raw.wire() });
  }

  override mergedDirectories(view: MergedDirectoriesView): void {
    const raw = new RawStringCollector();
    const taskOwned = raw.text('taskOwnedDirectory', view.taskOwned);
    const shared = raw.text('sharedDirectory', view.shared);
    this.directories = { taskOwned, shared, isEmpty: view.isEmpty, raw };
  }

  override endOperatorHandle(): void {
    const { slot, tag, states, delegate } = this.current(this.operatorHandle);
    const index = slot === Slot.ManagedOperator ? 0 : 1;
    const delegateStateHandle = this.current(delegate);
    if (tag === Tag.OperatorState) {
      this.slots.operator[index] = {
        type: 'OperatorStreamStateHandle',
        stateNameToPartitionOffsets: states,
        delegateStateHandle,
      };
      return;
    }
    if (
      delegateStateHandle.type !== 'SegmentFileStateHandle' &&
      delegateStateHandle.type !== 'EmptySegmentFileStateHandle'
    ) {
      throw new Error('decoder let a merged operator handle without a segment through');
    }
    const { taskOwned, shared, isEmpty, raw } = this.current(this.directories);
    const wire = { ...raw.utf, ...(isEmpty > 1 ? { isEmpty } : {}) };
    this.slots.operator[index] = {
      type: isEmpty !== 0 ? 'EmptyFileMergingOperatorStreamStateHandle' : 'FileMergingOperatorStreamStateHandle',
      stateNameToPartitionOffsets: states,
      taskOwnedDirectory: taskOwned,
      sharedDirectory: shared,
      delegateStateHandle,
      ...(Object.keys(wire).length > 0 ? { wire } : {}),
    };
  }

  // ---------------------------------------------------------------- keyed handles

  override beginKeyedHandle(view: KeyedHandleView): void {
    const raw = new RawStringCollector();
    const incremental = view.tag === Tag.Incremental || view.tag === Tag.IncrementalV2;
    const withOffsets =
      view.tag === Tag.KeyGroups || view.tag === Tag.KeyGroupsV2 || view.tag === Tag.SavepointKeyGroups;
    this.keyed.push({
      list: HandleList.Shared,
      delegates: [],
      shared: [],
      private: [],
      materialized: [],
      nonMaterialized: [],
      files: [],
      changes: [],
      offsets: withOffsets ? this.pending.startNumbers(view.range.count) : new BigInt64Array(0),
      raw,
      backendIdentifier: incremental ? raw.text('backendIdentifier', view.backendIdentifier) : '',
    });
  }

  override beginList(list: HandleList): void {
    this.current(this.keyed.at(-1)).list = list;
  }

  override nullKeyedHandle(): void {
    this.current(this.keyed.at(-1)).materialized.push(null);
  }

  override stateChange(keyGroup: number, length: number): void {
    this.current(this.keyed.at(-1)).changes.push({ keyGroup, change: this.pending.startBytes(length) });
  }

  override endKeyedHandle(view: KeyedHandleView): void {
    const handle = this.finishKeyed(view, this.current(this.keyed.pop()));
    const parent = this.keyed.at(-1);
    if (!parent) {
      this.slots.keyed[view.slot === Slot.ManagedKeyed ? 0 : 1] = handle;
    } else if (parent.list === HandleList.Materialized) {
      parent.materialized.push(handle);
    } else if (handle.type === 'InMemoryChangelogStateHandle' || handle.type === 'ChangelogStateHandleStreamImpl') {
      parent.nonMaterialized.push(handle);
    }
  }

  private finishKeyed(view: KeyedHandleView, open: OpenKeyed): KeyedStateHandle {
    const keyGroupRange = rangeOf(view.range);
    const stateHandleId = view.hasStateHandleId ? open.raw.text('stateHandleId', view.stateHandleId) : null;
    const checkpointedSize = view.hasCheckpointedSize ? view.checkpointedSize.toBigInt() : null;
    switch (view.tag) {
      case Tag.KeyGroups:
      case Tag.KeyGroupsV2: {
        const delegateStateHandle = this.current(open.delegates[0]);
        const keyGroupOffsets = open.offsets;
        return {
          type: 'KeyGroupsStateHandle',
          keyGroupRange,
          keyGroupOffsets,
          stateHandleId,
          delegateStateHandle,
          ...open.raw.wire(),
        };
      }
      case Tag.SavepointKeyGroups: {
        const delegateStateHandle = this.current(open.delegates[0]);
        return {
          type: 'KeyGroupsSavepointStateHandle',
          keyGroupRange,
          keyGroupOffsets: open.offsets,
          delegateStateHandle,
        };
      }
      case Tag.Incremental:
      case Tag.IncrementalV2:
        return {
          type: 'IncrementalRemoteKeyedStateHandle',
          checkpointId: view.checkpointId.toBigInt(),
          backendIdentifier: open.backendIdentifier,
          keyGroupRange,
          checkpointedSize,
          stateHandleId,
          metaStateHandle: this.current(open.delegates[0]),
          sharedState: open.shared,
          privateState: open.private,
          ...open.raw.wire(),
        };
      case Tag.ChangelogBytes:
        return {
          type: 'InMemoryChangelogStateHandle',
          keyGroupRange,
          from: view.from.toBigInt(),
          to: view.to.toBigInt(),
          changes: open.changes,
          stateHandleId,
          ...open.raw.wire(),
        };
      case Tag.ChangelogFile:
      case Tag.ChangelogFileV2:
        return {
          type: 'ChangelogStateHandleStreamImpl',
          keyGroupRange,
          handlesAndOffsets: open.files,
          stateSize: view.size.toBigInt(),
          checkpointedSize,
          stateHandleId,
          storageIdentifier: view.hasStorageIdentifier
            ? open.raw.text('storageIdentifier', view.storageIdentifier)
            : null,
          ...open.raw.wire(),
        };
      default:
        return {
          type: 'ChangelogStateBackendHandleImpl',
          keyGroupRange,
          checkpointedSize,
          materializedStateHandles: open.materialized,
          nonMaterializedStateHandles: open.nonMaterialized,
          materializationID: view.hasMaterializationId ? view.materializationId.toBigInt() : null,
          checkpointId: view.hasCheckpointId ? view.checkpointId.toBigInt() : null,
          stateHandleId,
          ...open.raw.wire(),
        };
    }
  }

  // ---------------------------------------------------------------- channel handles

  override beginChannelHandle(view: ChannelHandleView): void {
    this.channelNumbers = this.pending.startNumbers(view.offsets);
    this.channelDelegate = null;
  }

  override channelOffsets(length: number): void {
    this.channelBytes = this.pending.startBytes(length);
  }

  override endChannelHandle(view: ChannelHandleView): void {
    const input = view.slot === Slot.InputChannel;
    const stateSize = view.size.toBigInt();
    const list = this.slots.channels[input ? 0 : 1];
    if (view.merged) {
      list.push({
        type: input ? 'MergedInputChannelStateHandle' : 'MergedResultSubpartitionStateHandle',
        subtaskIndex: view.subtaskIndex,
        stateSize,
        delegate: this.channelDelegate,
        serializedChannelOffsets: this.channelBytes,
      });
      return;
    }
    if (this.channelDelegate === null) throw new Error('decoder let a channel handle without delegate through');
    list.push({
      type: input ? 'InputChannelStateHandle' : 'ResultSubpartitionStateHandle',
      subtaskIndex: view.hasSubtaskIndex ? view.subtaskIndex : null,
      outerIndex: view.outerIndex,
      innerIndex: view.innerIndex,
      offsets: this.channelNumbers,
      stateSize,
      delegate: this.channelDelegate,
    });
  }

  // ---------------------------------------------------------------- stream handles

  override streamHandle(view: StreamHandleView): void {
    this.placeFor(view)(this.streamStateHandle(view));
  }

  override beginStreamKeyGroups(_role: Role, view: StreamHandleView, range: RangeView): void {
    const place = this.placeFor(view);
    this.streamKeyGroups.push({ range: rangeOf(range), offsets: this.pending.startNumbers(range.count), place });
  }

  override endStreamKeyGroups(): void {
    this.streamKeyGroups.pop();
  }

  /** Where a handle that starts now belongs. */
  private placeFor(view: StreamHandleView): (handle: StreamStateHandle | null) => void {
    const outer = this.streamKeyGroups.at(-1);
    if (outer && view.role === Role.KeyGroupsDelegate) {
      return (handle) =>
        outer.place({
          type: 'KeyGroupsStateHandle',
          keyGroupRange: outer.range,
          keyGroupOffsets: outer.offsets,
          stateHandleId: null,
          delegateStateHandle: this.current(handle ?? undefined),
        });
    }
    switch (view.role) {
      case Role.Coordinator:
        return (handle) => {
          this.current(this.head).coordinatorState = handle as ByteStreamStateHandle | null;
        };
      case Role.OperatorDelegate:
        return (handle) => {
          this.current(this.operatorHandle).delegate = handle ?? undefined;
        };
      case Role.Shared:
      case Role.Private:
        return this.placeLocalFile(view);
      case Role.ChangelogFile: {
        const offset = view.changelogOffset.toBigInt();
        return (handle) => this.current(this.keyed.at(-1)).files.push({ offset, handle });
      }
      case Role.ChannelDelegate:
        return (handle) => {
          this.channelDelegate = handle;
        };
      default:
        return (handle) => {
          if (handle) this.current(this.keyed.at(-1)).delegates.push(handle);
        };
    }
  }

  private placeLocalFile(view: StreamHandleView): (handle: StreamStateHandle | null) => void {
    const raw = new RawStringCollector();
    const localPath = raw.text('localPath', view.localPath);
    const open = this.current(this.keyed.at(-1));
    const list = view.role === Role.Shared ? open.shared : open.private;
    return (handle) => list.push({ localPath, handle: this.current(handle ?? undefined), ...raw.wire() });
  }

  private streamStateHandle(view: StreamHandleView): StreamStateHandle | null {
    const raw = new RawStringCollector();
    switch (view.tag) {
      case Tag.Null:
        return null;
      case Tag.ByteStream: {
        const handleName = raw.text('handleName', view.path);
        return {
          type: 'ByteStreamStateHandle',
          handleName,
          bytes: this.pending.startBytes(view.dataLength),
          ...raw.wire(),
        };
      }
      case Tag.File: {
        const filePath = raw.text('filePath', view.path);
        return { type: 'FileStateHandle', filePath, stateSize: view.size.toBigInt(), ...raw.wire() };
      }
      case Tag.RelativeFile: {
        const relativePath = raw.text('relativePath', view.path);
        return { type: 'RelativeFileStateHandle', relativePath, stateSize: view.size.toBigInt(), ...raw.wire() };
      }
      case Tag.Segment:
        return {
          type: 'SegmentFileStateHandle',
          filePath: raw.text('filePath', view.path),
          startPos: view.startPos.toBigInt(),
          stateSize: view.size.toBigInt(),
          scope: view.scope,
          logicalFileId: raw.text('logicalFileId', view.logicalFileId),
          ...raw.wire(),
        };
      default:
        return { type: 'EmptySegmentFileStateHandle' };
    }
  }

  // ---------------------------------------------------------------- bytes

  override offsets(bytes: Uint8Array, start: number, count: number): void {
    this.pending.addNumbers(bytes, start, count);
  }

  override data(bytes: Uint8Array, start: number, end: number): void {
    if (this.readingTrailing) {
      this.consumer.trailing?.(copyBytes(bytes, start, end));
      return;
    }
    this.pending.addBytes(bytes, start, end);
    if (this.openMasterState && this.pending.hasAllBytes) {
      this.consumer.masterState?.(this.openMasterState);
      this.openMasterState = undefined;
    }
  }

  override properties(bytes: Uint8Array, start: number, end: number): void {
    this.consumer.properties?.(copyBytes(bytes, start, end));
  }

  override trailing(): void {
    this.readingTrailing = true;
  }
}
