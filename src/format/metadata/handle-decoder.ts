/**
 * Decodes state handles. Generators pause where the window must be refilled and run through where all bytes are in memory;
 * one decoder serves both. Origin of the layouts: Flink `MetadataV2V3SerializerBase`, `ChannelStateHandleSerializerV1/V2`.
 */
import { type ByteReader, MAX_LEFT_OVER } from '../../bytes/byte-reader.js';
import type { MetadataLayout } from '../../model/checkpoint-metadata.js';
import { DISTRIBUTION_MODES, METADATA_KEY_GROUP, SCOPES } from '../../model/state-handles.js';
import type { RecordPath } from './record-path.js';
import { ChannelTag, Since, Tag } from './tags.js';
import {
  ChannelHandleView,
  HandleList,
  KeyedHandleView,
  MergedDirectoriesView,
  type MetadataVisitor,
  OperatorHandleView,
  Role,
  Slot,
  StateMetaInfoView,
  StreamHandleView,
} from './visitor.js';

/** Yields where the window must be refilled. */
export type Decoding = Generator<void, void, void>;

/** More bytes than any record that is decoded in one go: five strings and some numbers. */
export const LOW_WATER = MAX_LEFT_OVER;

/** Handles inside handles; Flink writes two levels. */
const MAX_DEPTH = 64;

/** What {@link HandleDecoder.streamHead} leaves to be done. */
const Rest = { None: 0, Data: 1, KeyGroups: 2 } as const;
type Rest = (typeof Rest)[keyof typeof Rest];

/** Least bytes of the elements of lists: what bounds a count before anything is allocated. */
const Least = {
  offset: 8,
  streamHandle: 1,
  keyedHandle: 1,
  localFile: 3,
  change: 8,
  changelogFile: 9,
  state: 7,
  channel: 25,
  channelOf111: 21,
  mergedChannel: 18,
} as const;

const FILE_LIKE_TAGS = '0, 1, 2, 3, 6, 15 or 16';

/** See the file comment. One instance for one pass over one file. */
export class HandleDecoder {
  private readonly stream = new StreamHandleView();
  private readonly operatorHandle = new OperatorHandleView();
  private readonly stateMetaInfo = new StateMetaInfoView();
  private readonly directories = new MergedDirectoriesView();
  private readonly channel = new ChannelHandleView();
  /** One view for each level of nesting, made when first needed. */
  private readonly keyedViews: KeyedHandleView[] = [];
  private streamDepth = 0;
  /** True once something was read whose layout the version number does not tell. */
  sawChangelogForm = false;
  sawChannelForm = false;

  constructor(
    private readonly reader: ByteReader,
    private readonly visitor: MetadataVisitor,
    private readonly path: RecordPath,
    private readonly version: number,
    private readonly layout: MetadataLayout,
  ) {}

  // ---------------------------------------------------------------- bytes and offsets

  /** Reports `length` bytes as data. */
  *data(length: number, reading: string): Decoding {
    if (length > this.reader.remaining) {
      this.reader.fail(reading, `${length} bytes where ${this.reader.remaining} remain`);
    }
    let left = length;
    for (;;) {
      const size = Math.min(left, this.reader.available);
      const start = this.reader.take(size, reading);
      this.visitor.data(this.reader.buffer, start, start + size);
      left -= size;
      if (left === 0) return;
      yield;
    }
  }

  private *offsets(count: number, reading: string): Decoding {
    let left = count;
    while (left > 0) {
      const size = Math.min(left, Math.floor(this.reader.available / Least.offset));
      const start = this.reader.take(size * Least.offset, reading);
      this.visitor.offsets(this.reader.buffer, start, size);
      left -= size;
      if (left > 0) yield;
    }
  }

  private range(view: { start: number; count: number }, bytesEach: number): void {
    const at = this.reader.offset;
    view.start = this.reader.readI32('first key group');
    view.count = this.reader.readCount('number of key groups', bytesEach);
    if (view.count > 0 && (view.start < 0 || view.start + view.count > 0x80000000)) {
      this.reader.fail('a range of key groups', `${view.count} from ${view.start} on`, at);
    }
  }

  // ---------------------------------------------------------------- stream handles

  /** The type byte of the handle that comes next, undefined at the end of the file. The window must have been refilled. */
  peekTag(): number | undefined {
    return this.reader.available > 0 ? this.reader.buffer[this.reader.position] : undefined;
  }

  /** Decodes a stream handle in any position. */
  *streamHandle(role: Role): Decoding {
    if (this.reader.wantsRefill(LOW_WATER)) yield;
    const rest = this.streamHead(role);
    if (rest !== Rest.None) yield* this.streamRest(rest, role);
  }

  /** All of a stream handle that needs no refill, which is mostly all. The window holds {@link LOW_WATER} bytes or the rest. */
  private streamHead(role: Role): Rest {
    const { reader, stream } = this;
    const at = reader.offset;
    const tag = reader.readU8('a stream state handle');
    stream.tag = tag;
    stream.role = role;
    switch (tag) {
      case Tag.Null:
        if (role !== Role.Coordinator && role !== Role.ChangelogFile && role !== Role.ChannelDelegate) {
          reader.fail('a stream state handle', 'null', at);
        }
        break;
      case Tag.ByteStream:
        return this.inlineBytes();
      case Tag.File:
        this.size('file size');
        this.pathString('file path');
        break;
      case Tag.RelativeFile:
        this.pathString('relative file path');
        this.size('file size');
        break;
      case Tag.Segment:
        this.segment();
        break;
      case Tag.EmptySegment:
        stream.size.high = 0;
        stream.size.low = 0;
        break;
      case Tag.KeyGroups:
        return Rest.KeyGroups;
      default:
        reader.fail(`a stream state handle (type ${FILE_LIKE_TAGS})`, `type ${tag}`, at);
    }
    this.visitor.streamHandle(stream);
    return Rest.None;
  }

  private inlineBytes(): Rest {
    const { reader, stream } = this;
    reader.readUtf('handle name', stream.path);
    const length = reader.readCount('number of inline bytes', 1);
    stream.dataLength = length;
    stream.size.high = 0;
    stream.size.low = length;
    this.visitor.streamHandle(stream);
    if (length > reader.available) return Rest.Data;
    const start = reader.take(length, 'inline bytes');
    this.visitor.data(reader.buffer, start, start + length);
    return Rest.None;
  }

  private size(reading: string): void {
    const { reader, stream } = this;
    reader.readI64(reading);
    // Flink's own constructor refuses anything below -1.
    if (reader.high < -1 || (reader.high === -1 && reader.low !== 0xffffffff)) {
      reader.fail(`${reading} (-1 or more)`, `${(BigInt(reader.high) << 32n) | BigInt(reader.low)}`, reader.offset - 8);
    }
    stream.size.high = reader.high;
    stream.size.low = reader.low;
  }

  private pathString(reading: string): void {
    const at = this.reader.offset;
    this.reader.readUtf(reading, this.stream.path);
    if (this.stream.path.byteLength === 0) this.reader.fail(reading, 'an empty string', at);
  }

  private segment(): void {
    const { reader, stream } = this;
    reader.readI64('start position');
    stream.startPos.high = reader.high;
    stream.startPos.low = reader.low;
    reader.readI64('segment length');
    stream.size.high = reader.high;
    stream.size.low = reader.low;
    const ordinal = reader.readI32('scope of a segment');
    stream.scope = SCOPES[ordinal] ?? reader.fail('scope of a segment (0 or 1)', `${ordinal}`, reader.offset - 4);
    this.pathString('path of the physical file');
    reader.readUtf('logical file id', stream.logicalFileId);
  }

  private *streamRest(rest: Rest, role: Role): Decoding {
    const { reader, stream, visitor } = this;
    if (rest === Rest.Data) {
      yield* this.data(stream.dataLength, 'inline bytes');
      return;
    }
    if (++this.streamDepth > MAX_DEPTH)
      reader.fail('a stream state handle', `more than ${MAX_DEPTH} inside each other`);
    const range = { start: 0, count: 0 };
    this.range(range, Least.offset);
    visitor.beginStreamKeyGroups(role, stream, range);
    yield* this.offsets(range.count, 'key-group offset');
    yield* this.streamHandle(Role.KeyGroupsDelegate);
    visitor.endStreamKeyGroups();
    this.streamDepth--;
  }

  // ---------------------------------------------------------------- operator handles

  /** Decodes the presence number of a slot and the operator handle, if any. */
  *operatorSlot(slot: Slot): Decoding {
    const { reader, operatorHandle, visitor } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.path.slot = slot;
    const presence = reader.readI32('whether there is operator state');
    if (presence === 0) return;
    const at = reader.offset;
    const tag = reader.readI8('an operator state handle');
    if (tag !== Tag.OperatorState && tag !== Tag.MergedOperatorState) {
      reader.fail('an operator state handle (type 4 or 17)', `type ${tag}`, at);
    }
    operatorHandle.slot = slot;
    operatorHandle.tag = tag;
    operatorHandle.presence = presence;
    const states = reader.readCount('number of operator states', Least.state);
    operatorHandle.states = states;
    visitor.beginOperatorHandle(operatorHandle);
    for (let i = 0; i < states; i++) yield* this.operatorState();
    if (tag === Tag.MergedOperatorState) yield* this.mergedDelegate();
    else yield* this.streamHandle(Role.OperatorDelegate);
    visitor.endOperatorHandle();
  }

  private *operatorState(): Decoding {
    const { reader, stateMetaInfo } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    reader.readUtf('name of an operator state', stateMetaInfo.name);
    const ordinal = reader.readI8('distribution mode');
    stateMetaInfo.mode =
      DISTRIBUTION_MODES[ordinal] ?? reader.fail('distribution mode (0, 1 or 2)', `${ordinal}`, reader.offset - 1);
    const count = reader.readCount('number of partition offsets', Least.offset);
    stateMetaInfo.offsets = count;
    this.visitor.stateMetaInfo(stateMetaInfo);
    yield* this.offsets(count, 'partition offset');
  }

  private *mergedDelegate(): Decoding {
    const { reader, directories } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const at = reader.offset;
    reader.readUtf('task-owned directory', directories.taskOwned);
    reader.readUtf('shared directory', directories.shared);
    if (directories.taskOwned.byteLength === 0 || directories.shared.byteLength === 0) {
      reader.fail('two directories', 'an empty string', at);
    }
    directories.isEmpty = reader.readU8('whether the merged state is empty');
    this.visitor.mergedDirectories(directories);
    if (reader.wantsRefill(LOW_WATER)) yield;
    const tag = this.peekTag();
    if (tag !== undefined && tag !== Tag.Segment && tag !== Tag.EmptySegment) {
      reader.fail('a segment of a merged file (type 15 or 16)', `type ${tag}`);
    }
    yield* this.streamHandle(Role.OperatorDelegate);
  }

  // ---------------------------------------------------------------- keyed handles

  /** Decodes the keyed handle of a slot; a null one is not reported. */
  *keyedSlot(slot: Slot): Decoding {
    const { reader } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.path.slot = slot;
    const tag = reader.readI8('a keyed state handle');
    if (tag !== Tag.Null) yield* this.keyedHandle(tag, slot, 0);
  }

  private keyedView(depth: number): KeyedHandleView {
    const known = this.keyedViews[depth];
    if (known) return known;
    const view = new KeyedHandleView();
    this.keyedViews[depth] = view;
    return view;
  }

  /** The type byte is taken already. */
  private *keyedHandle(tag: number, slot: Slot, depth: number): Decoding {
    if (depth > MAX_DEPTH) this.reader.fail('a keyed state handle', `more than ${MAX_DEPTH} inside each other`);
    const view = this.keyedView(depth);
    view.slot = slot;
    view.tag = tag;
    view.depth = depth;
    view.hasCheckpointedSize = false;
    view.hasMaterializationId = false;
    view.hasCheckpointId = false;
    view.hasStateHandleId = false;
    view.hasStorageIdentifier = false;
    switch (tag) {
      case Tag.KeyGroups:
      case Tag.KeyGroupsV2:
      case Tag.SavepointKeyGroups:
        yield* this.keyGroups(view);
        break;
      case Tag.Incremental:
      case Tag.IncrementalV2:
        yield* this.incremental(view);
        break;
      case Tag.Changelog:
      case Tag.ChangelogV2:
        yield* this.changelog(view);
        break;
      case Tag.ChangelogBytes:
        yield* this.changelogBytes(view);
        break;
      case Tag.ChangelogFile:
      case Tag.ChangelogFileV2:
        yield* this.changelogFiles(view);
        break;
      default:
        this.reader.fail('a keyed state handle (type 0, 3, 5 or 7 to 14)', `type ${tag}`, this.reader.offset - 1);
    }
    this.visitor.endKeyedHandle(view);
  }

  private stateHandleId(view: KeyedHandleView): void {
    this.reader.readUtf('state handle id', view.stateHandleId);
    view.hasStateHandleId = true;
  }

  private *keyGroups(view: KeyedHandleView): Decoding {
    this.range(view.range, Least.offset);
    this.visitor.beginKeyedHandle(view);
    yield* this.offsets(view.range.count, 'key-group offset');
    yield* this.streamHandle(Role.KeyGroupsDelegate);
    if (view.tag !== Tag.KeyGroupsV2) return;
    if (this.reader.wantsRefill(LOW_WATER)) yield;
    this.stateHandleId(view);
  }

  private *incremental(view: KeyedHandleView): Decoding {
    const { reader } = this;
    this.words(view.checkpointId, 'checkpoint id');
    reader.readUtf('backend identifier', view.backendIdentifier);
    this.range(view.range, 0);
    if (view.tag === Tag.IncrementalV2) {
      this.words(view.checkpointedSize, 'checkpointed size');
      view.hasCheckpointedSize = true;
    }
    this.visitor.beginKeyedHandle(view);
    yield* this.streamHandle(Role.Meta);
    yield* this.localFiles(HandleList.Shared, Role.Shared, 'number of shared files');
    yield* this.localFiles(HandleList.Private, Role.Private, 'number of private files');
    if (view.tag !== Tag.IncrementalV2) return;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.stateHandleId(view);
  }

  /** The hot loop: nearly all handles of a large file stand in these lists. */
  private *localFiles(list: HandleList, role: Role, reading: string): Decoding {
    const { reader } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const count = reader.readCount(reading, Least.localFile);
    this.visitor.beginList(list, count);
    const step: [HandleList, number] = [list, 0];
    this.path.lists.push(step);
    for (let i = 0; i < count; i++) {
      step[1] = i;
      if (reader.wantsRefill(LOW_WATER)) yield;
      reader.readUtf('local file name', this.stream.localPath);
      const rest = this.streamHead(role);
      if (rest !== Rest.None) yield* this.streamRest(rest, role);
    }
    this.path.lists.pop();
  }

  private words(target: { high: number; low: number }, reading: string): void {
    this.reader.readI64(reading);
    target.high = this.reader.high;
    target.low = this.reader.low;
  }

  private sequenceNumber(target: { high: number; low: number }, reading: string): void {
    this.words(target, reading);
    const { high, low } = target;
    if (high < 0) {
      this.reader.fail(reading, `the negative number ${(BigInt(high) << 32n) | BigInt(low)}`, this.reader.offset - 8);
    }
  }

  private *changelog(view: KeyedHandleView): Decoding {
    const { reader } = this;
    const before114 = this.layout === '1.14' && view.tag === Tag.Changelog;
    if (view.tag === Tag.Changelog) this.sawChangelogForm = true;
    const at = reader.offset;
    this.range(view.range, 0);
    if (view.range.count === 0) reader.fail('a range of key groups', 'an empty one', at);
    if (!before114) {
      this.words(view.checkpointedSize, 'checkpointed size');
      view.hasCheckpointedSize = true;
    }
    this.visitor.beginKeyedHandle(view);
    yield* this.keyedList(HandleList.Materialized, view);
    yield* this.keyedList(HandleList.NonMaterialized, view);
    if (before114) return;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.words(view.materializationId, 'materialization id');
    view.hasMaterializationId = true;
    if (view.tag === Tag.ChangelogV2) {
      this.words(view.checkpointId, 'checkpoint id');
      view.hasCheckpointId = true;
    }
    this.stateHandleId(view);
  }

  private *keyedList(list: HandleList, parent: KeyedHandleView): Decoding {
    const { reader } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const materialized = list === HandleList.Materialized;
    const count = reader.readCount(`number of ${materialized ? '' : 'non-'}materialized handles`, Least.keyedHandle);
    this.visitor.beginList(list, count);
    const step: [HandleList, number] = [list, 0];
    this.path.lists.push(step);
    for (let i = 0; i < count; i++) {
      step[1] = i;
      if (reader.wantsRefill(LOW_WATER)) yield;
      const at = reader.offset;
      const tag = reader.readI8('a keyed state handle');
      if (materialized && tag === Tag.Null) {
        this.visitor.nullKeyedHandle();
        continue;
      }
      if (!materialized && tag !== Tag.ChangelogBytes && tag !== Tag.ChangelogFile && tag !== Tag.ChangelogFileV2) {
        reader.fail('a changelog handle (type 9, 10 or 13)', `type ${tag}`, at);
      }
      yield* this.keyedHandle(tag, parent.slot, parent.depth + 1);
    }
    this.path.lists.pop();
  }

  private *changelogBytes(view: KeyedHandleView): Decoding {
    const { reader } = this;
    this.sawChangelogForm = true;
    this.range(view.range, 0);
    this.sequenceNumber(view.from, 'first sequence number');
    this.sequenceNumber(view.to, 'end sequence number');
    this.visitor.beginKeyedHandle(view);
    const count = reader.readCount('number of changes', Least.change);
    this.visitor.beginList(HandleList.Changes, count);
    const step: [HandleList, number] = [HandleList.Changes, 0];
    this.path.lists.push(step);
    for (let i = 0; i < count; i++) {
      step[1] = i;
      if (reader.wantsRefill(LOW_WATER)) yield;
      const keyGroup = reader.readI32('key group of a change');
      // Flink's constructors refuse these, and negative sequence numbers.
      if (keyGroup < METADATA_KEY_GROUP) {
        reader.fail(`key group of a change (${METADATA_KEY_GROUP} or more)`, `${keyGroup}`, reader.offset - 4);
      }
      const length = reader.readCount('length of a change', 1);
      this.visitor.stateChange(keyGroup, length);
      yield* this.data(length, 'a change');
    }
    this.path.lists.pop();
    if (this.layout === '1.14') return;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.stateHandleId(view);
  }

  private *changelogFiles(view: KeyedHandleView): Decoding {
    const { reader } = this;
    const before114 = this.layout === '1.14' && view.tag === Tag.ChangelogFile;
    if (view.tag === Tag.ChangelogFile) this.sawChangelogForm = true;
    this.range(view.range, 0);
    this.visitor.beginKeyedHandle(view);
    const count = reader.readCount('number of changelog files', Least.changelogFile);
    this.visitor.beginList(HandleList.ChangelogFiles, count);
    const step: [HandleList, number] = [HandleList.ChangelogFiles, 0];
    this.path.lists.push(step);
    for (let i = 0; i < count; i++) {
      step[1] = i;
      if (reader.wantsRefill(LOW_WATER)) yield;
      this.words(this.stream.changelogOffset, 'offset in a changelog file');
      yield* this.streamHandle(Role.ChangelogFile);
    }
    this.path.lists.pop();
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.words(view.size, 'size of the changelog');
    if (before114) return;
    this.words(view.checkpointedSize, 'checkpointed size');
    view.hasCheckpointedSize = true;
    this.stateHandleId(view);
    if (view.tag !== Tag.ChangelogFileV2) return;
    reader.readUtf('storage identifier', view.storageIdentifier);
    view.hasStorageIdentifier = true;
  }

  // ---------------------------------------------------------------- channel handles

  /** Decodes the channel handles of one direction. */
  *channelSlot(slot: Slot): Decoding {
    const { reader } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.path.slot = slot;
    const count = reader.readCount('number of channel state handles', this.leastChannelBytes());
    for (let i = 0; i < count; i++) {
      this.path.channel = i;
      if (reader.wantsRefill(LOW_WATER)) yield;
      if (this.channelKind(slot)) yield* this.mergedChannel();
      else yield* this.plainChannel();
    }
    this.path.channel = -1;
  }

  private leastChannelBytes(): number {
    if (this.version >= Since.channelTags) return Least.mergedChannel;
    // Also where the layout is the newest: it may have to be found out yet that it is that of 1.11.
    return this.version === Since.channels ? Least.channelOf111 : Least.channel;
  }

  /** Reads the type byte where there is one. @returns true for the merged kind */
  private channelKind(slot: Slot): boolean {
    const { reader, channel } = this;
    channel.slot = slot;
    channel.merged = false;
    if (this.version >= Since.channelTags) {
      const input = slot === Slot.InputChannel;
      const plain = input ? ChannelTag.Input : ChannelTag.Result;
      const merged = input ? ChannelTag.MergedInput : ChannelTag.MergedResult;
      const tag = reader.readU8('a channel state handle');
      channel.merged = tag === merged;
      if (tag !== plain && tag !== merged) {
        reader.fail(`a channel state handle (type ${plain} or ${merged})`, `type ${tag}`, reader.offset - 1);
      }
    }
    return channel.merged;
  }

  private *plainChannel(): Decoding {
    const { reader, channel, visitor } = this;
    this.sawChannelForm = true;
    channel.hasSubtaskIndex = this.layout !== '1.11';
    channel.subtaskIndex = channel.hasSubtaskIndex ? reader.readI32('subtask index') : 0;
    channel.outerIndex = reader.readI32('gate or partition index');
    channel.innerIndex = reader.readI32('channel or subpartition index');
    channel.offsets = reader.readCount('number of offsets', Least.offset);
    visitor.beginChannelHandle(channel);
    yield* this.offsets(channel.offsets, 'offset of channel data');
    if (reader.wantsRefill(LOW_WATER)) yield;
    this.words(channel.size, 'size of channel data');
    const at = reader.offset;
    yield* this.streamHandle(Role.ChannelDelegate);
    if (this.stream.tag === Tag.Null) reader.fail('a stream state handle', 'null', at);
    visitor.endChannelHandle(channel);
  }

  private *mergedChannel(): Decoding {
    const { reader, channel, visitor } = this;
    channel.hasSubtaskIndex = true;
    channel.subtaskIndex = reader.readI32('subtask index');
    channel.offsets = 0;
    this.words(channel.size, 'size of channel data');
    visitor.beginChannelHandle(channel);
    yield* this.streamHandle(Role.ChannelDelegate);
    if (reader.wantsRefill(LOW_WATER)) yield;
    const length = reader.readCount('number of bytes of channel offsets', 1);
    visitor.channelOffsets(length);
    yield* this.data(length, 'channel offsets');
    visitor.endChannelHandle(channel);
  }
}
