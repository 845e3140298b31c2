/** Encodes state handles: the reverse of `handle-decoder.ts`, field by field. */
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { decodeModifiedUtf8 } from '../../bytes/modified-utf8.js';
import { UnwritableMetadataError } from '../../errors.js';
import type { MetadataLayout } from '../../model/checkpoint-metadata.js';
import {
  type AnyChannelStateHandle,
  type ChangelogStateBackendHandleImpl,
  type ChangelogStateHandleStreamImpl,
  type ChannelStateHandle,
  DISTRIBUTION_MODES,
  type FileMergingOperatorStreamStateHandle,
  type HandleAndLocalPath,
  type IncrementalRemoteKeyedStateHandle,
  type InMemoryChangelogStateHandle,
  type KeyedStateHandle,
  type KeyGroupRange,
  METADATA_KEY_GROUP,
  type OperatorStateHandle,
  type RawStrings,
  SCOPES,
  type StateMetaInfo,
  type StreamStateHandle,
} from '../../model/state-handles.js';
import { ChannelTag, Since, Tag } from './tags.js';

/** Anything whose strings may have raw bytes. */
interface WithWire {
  readonly wire?: { readonly utf?: RawStrings };
}

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const I32_MIN = -(2 ** 31);
const I32_MAX = 2 ** 31 - 1;

/** See the file comment. Every method throws UnwritableMetadataError before it breaks the format. */
export class HandleEncoder {
  /** Which record is being written, in words, for errors. */
  record = 'header';

  constructor(
    private readonly out: ByteWriter,
    private readonly version: number,
    private readonly layout: MetadataLayout,
  ) {}

  /** @throws UnwritableMetadataError always */
  refuse(reason: string): never {
    throw new UnwritableMetadataError(this.record, reason);
  }

  /** Writes a 32-bit number. */
  i32(value: number, field: string): void {
    if (!Number.isInteger(value) || value < I32_MIN || value > I32_MAX)
      this.refuse(`${field} ${value} is no 32-bit integer`);
    this.out.writeI32(value);
  }

  /** Writes a 64-bit number. */
  i64(value: bigint, field: string): void {
    if (value < I64_MIN || value > I64_MAX) this.refuse(`${field} ${value} is no 64-bit integer`);
    this.out.writeI64(value);
  }

  /** Writes a string, with the raw bytes that the file had for it where they differ from its plain encoding. */
  utf(text: string, field: string, owner: WithWire = {}): void {
    const utf = owner.wire?.utf;
    const raw = utf && Object.hasOwn(utf, field) ? utf[field] : undefined;
    try {
      if (raw === undefined) {
        this.out.writeUtf(text);
        return;
      }
      if (decodeModifiedUtf8(raw, 0, raw.length) !== text)
        this.refuse(`the raw bytes of ${field} are not those of its text`);
      this.out.writeUtfBytes(raw);
    } catch (error) {
      if (error instanceof UnwritableMetadataError) throw error;
      this.refuse(`${field}: ${error instanceof Error ? error.message : error}`);
    }
  }

  private path(text: string, field: string, owner: WithWire): void {
    if (text === '') this.refuse(`${field} is empty`);
    this.utf(text, field, owner);
  }

  private range(range: KeyGroupRange): void {
    const { startKeyGroup, numberOfKeyGroups } = range;
    if (
      numberOfKeyGroups < 0 ||
      (numberOfKeyGroups > 0 && (startKeyGroup < 0 || startKeyGroup + numberOfKeyGroups - 1 > I32_MAX))
    ) {
      this.refuse(`key-group range of ${numberOfKeyGroups} from ${startKeyGroup} on`);
    }
    this.i32(startKeyGroup, 'first key group');
    this.i32(numberOfKeyGroups, 'number of key groups');
  }

  private keyGroupOffsets(range: KeyGroupRange, offsets: BigInt64Array): void {
    if (offsets.length !== range.numberOfKeyGroups) {
      this.refuse(`${offsets.length} key-group offsets for ${range.numberOfKeyGroups} key groups`);
    }
    this.range(range);
    this.out.writeI64Array(offsets);
  }

  private fileSize(size: bigint): void {
    if (size < -1n) this.refuse(`file size ${size}`);
    this.i64(size, 'stateSize');
  }

  // ---------------------------------------------------------------- stream handles

  /** Writes a stream handle or null. */
  streamHandle(handle: StreamStateHandle | null): void {
    const { out } = this;
    switch (handle?.type) {
      case undefined:
        out.writeI8(Tag.Null);
        return;
      case 'ByteStreamStateHandle':
        out.writeI8(Tag.ByteStream);
        this.utf(handle.handleName, 'handleName', handle);
        this.bytes(handle.bytes);
        return;
      case 'FileStateHandle':
        out.writeI8(Tag.File);
        this.fileSize(handle.stateSize);
        this.path(handle.filePath, 'filePath', handle);
        return;
      case 'RelativeFileStateHandle':
        out.writeI8(Tag.RelativeFile);
        this.path(handle.relativePath, 'relativePath', handle);
        this.fileSize(handle.stateSize);
        return;
      case 'SegmentFileStateHandle':
        out.writeI8(Tag.Segment);
        this.i64(handle.startPos, 'startPos');
        this.i64(handle.stateSize, 'stateSize');
        out.writeI32(SCOPES.indexOf(handle.scope));
        this.path(handle.filePath, 'filePath', handle);
        this.utf(handle.logicalFileId, 'logicalFileId', handle);
        return;
      case 'EmptySegmentFileStateHandle':
        out.writeI8(Tag.EmptySegment);
        return;
      case 'KeyGroupsStateHandle':
        if (handle.stateHandleId !== null) this.refuse('key groups in the place of a stream store no state handle id');
        out.writeI8(Tag.KeyGroups);
        this.keyGroupOffsets(handle.keyGroupRange, handle.keyGroupOffsets);
        this.streamHandle(handle.delegateStateHandle);
        return;
    }
  }

  private bytes(bytes: Uint8Array): void {
    this.out.writeI32(bytes.length);
    this.out.writeBytes(bytes);
  }

  // ---------------------------------------------------------------- operator handles

  /** Writes the presence number and the handle. @param presence the number to write for a handle */
  operatorSlot(handle: OperatorStateHandle | null, presence: number | undefined): void {
    if (!handle) {
      if (presence !== undefined) this.refuse('a presence number without operator state');
      this.out.writeI32(0);
      return;
    }
    if (presence === 0) this.refuse('the presence number 0 with operator state');
    this.i32(presence ?? 1, 'presence number');
    const merged = handle.type !== 'OperatorStreamStateHandle';
    this.out.writeI8(merged ? Tag.MergedOperatorState : Tag.OperatorState);
    this.out.writeI32(handle.stateNameToPartitionOffsets.length);
    for (const state of handle.stateNameToPartitionOffsets) this.stateMetaInfo(state);
    if (merged) this.mergedDirectories(handle);
    this.streamHandle(handle.delegateStateHandle);
  }

  private stateMetaInfo(state: StateMetaInfo): void {
    this.utf(state.name, 'name', state);
    this.out.writeI8(DISTRIBUTION_MODES.indexOf(state.distributionMode));
    this.out.writeI32(state.offsets.length);
    this.out.writeI64Array(state.offsets);
  }

  private mergedDirectories(handle: FileMergingOperatorStreamStateHandle): void {
    const empty = handle.type === 'EmptyFileMergingOperatorStreamStateHandle';
    const isEmpty = handle.wire?.isEmpty;
    if (isEmpty !== undefined && (!empty || isEmpty < 1 || isEmpty > 255)) {
      this.refuse(`isEmpty ${isEmpty} contradicts the type ${handle.type}`);
    }
    this.path(handle.taskOwnedDirectory, 'taskOwnedDirectory', handle);
    this.path(handle.sharedDirectory, 'sharedDirectory', handle);
    this.out.writeI8(isEmpty ?? (empty ? 1 : 0));
  }

  // ---------------------------------------------------------------- keyed handles

  /** Writes a keyed handle or null. */
  keyedHandle(handle: KeyedStateHandle | null): void {
    switch (handle?.type) {
      case undefined:
        this.out.writeI8(Tag.Null);
        return;
      case 'KeyGroupsStateHandle':
        this.out.writeI8(handle.stateHandleId === null ? Tag.KeyGroups : Tag.KeyGroupsV2);
        this.keyGroupOffsets(handle.keyGroupRange, handle.keyGroupOffsets);
        this.streamHandle(handle.delegateStateHandle);
        if (handle.stateHandleId !== null) this.utf(handle.stateHandleId, 'stateHandleId', handle);
        return;
      case 'KeyGroupsSavepointStateHandle':
        this.out.writeI8(Tag.SavepointKeyGroups);
        this.keyGroupOffsets(handle.keyGroupRange, handle.keyGroupOffsets);
        this.streamHandle(handle.delegateStateHandle);
        return;
      case 'IncrementalRemoteKeyedStateHandle':
        this.incremental(handle);
        return;
      case 'ChangelogStateBackendHandleImpl':
        this.changelog(handle);
        return;
      case 'InMemoryChangelogStateHandle':
        this.changelogBytes(handle);
        return;
      case 'ChangelogStateHandleStreamImpl':
        this.changelogFiles(handle);
        return;
    }
  }

  private incremental(handle: IncrementalRemoteKeyedStateHandle): void {
    const { checkpointedSize, stateHandleId } = handle;
    if ((checkpointedSize === null) !== (stateHandleId === null)) {
      this.refuse('checkpointedSize and stateHandleId are stored together or not at all');
    }
    this.out.writeI8(stateHandleId === null ? Tag.Incremental : Tag.IncrementalV2);
    this.i64(handle.checkpointId, 'checkpointId');
    this.utf(handle.backendIdentifier, 'backendIdentifier', handle);
    this.range(handle.keyGroupRange);
    if (checkpointedSize !== null) this.i64(checkpointedSize, 'checkpointedSize');
    this.streamHandle(handle.metaStateHandle);
    this.localFiles(handle.sharedState);
    this.localFiles(handle.privateState);
    if (stateHandleId !== null) this.utf(stateHandleId, 'stateHandleId', handle);
  }

  private localFiles(files: readonly HandleAndLocalPath[]): void {
    this.out.writeI32(files.length);
    for (const file of files) {
      this.utf(file.localPath, 'localPath', file);
      this.streamHandle(file.handle);
    }
  }

  private changelog(handle: ChangelogStateBackendHandleImpl): void {
    const { checkpointedSize, materializationID, checkpointId, stateHandleId } = handle;
    const of114 = materializationID === null;
    if (
      of114 !== (checkpointedSize === null) ||
      of114 !== (stateHandleId === null) ||
      (of114 && checkpointId !== null)
    ) {
      this.refuse('checkpointedSize, materializationID, checkpointId and stateHandleId do not go together');
    }
    const tag = checkpointId === null ? Tag.Changelog : Tag.ChangelogV2;
    if (tag === Tag.Changelog && of114 !== (this.layout === '1.14'))
      this.refuse(`a changelog handle that the layout ${this.layout} has not`);
    if (handle.keyGroupRange.numberOfKeyGroups === 0) this.refuse('a changelog handle without key groups');
    this.out.writeI8(tag);
    this.range(handle.keyGroupRange);
    if (checkpointedSize !== null) this.i64(checkpointedSize, 'checkpointedSize');
    this.out.writeI32(handle.materializedStateHandles.length);
    for (const part of handle.materializedStateHandles) this.keyedHandle(part);
    this.out.writeI32(handle.nonMaterializedStateHandles.length);
    for (const part of handle.nonMaterializedStateHandles) this.keyedHandle(part);
    if (materializationID !== null) this.i64(materializationID, 'materializationID');
    if (checkpointId !== null) this.i64(checkpointId, 'checkpointId');
    if (stateHandleId !== null) this.utf(stateHandleId, 'stateHandleId', handle);
  }

  private changelogBytes(handle: InMemoryChangelogStateHandle): void {
    if ((handle.stateHandleId === null) !== (this.layout === '1.14')) {
      this.refuse(`an in-memory changelog that the layout ${this.layout} has not`);
    }
    this.out.writeI8(Tag.ChangelogBytes);
    this.range(handle.keyGroupRange);
    for (const field of ['from', 'to'] as const) {
      if (handle[field] < 0n) this.refuse(`the sequence number ${field} ${handle[field]}`);
      this.i64(handle[field], field);
    }
    this.out.writeI32(handle.changes.length);
    for (const { keyGroup, change } of handle.changes) {
      if (keyGroup < METADATA_KEY_GROUP) this.refuse(`a change of key group ${keyGroup}`);
      this.i32(keyGroup, 'keyGroup');
      this.bytes(change);
    }
    if (handle.stateHandleId !== null) this.utf(handle.stateHandleId, 'stateHandleId', handle);
  }

  private changelogFiles(handle: ChangelogStateHandleStreamImpl): void {
    const { checkpointedSize, stateHandleId, storageIdentifier } = handle;
    const of114 = checkpointedSize === null;
    if (of114 !== (stateHandleId === null) || (of114 && storageIdentifier !== null)) {
      this.refuse('checkpointedSize, stateHandleId and storageIdentifier do not go together');
    }
    if (storageIdentifier === null && of114 !== (this.layout === '1.14')) {
      this.refuse(`a changelog of files that the layout ${this.layout} has not`);
    }
    this.out.writeI8(storageIdentifier === null ? Tag.ChangelogFile : Tag.ChangelogFileV2);
    this.range(handle.keyGroupRange);
    this.out.writeI32(handle.handlesAndOffsets.length);
    for (const part of handle.handlesAndOffsets) {
      this.i64(part.offset, 'offset');
      this.streamHandle(part.handle);
    }
    this.i64(handle.stateSize, 'stateSize');
    if (checkpointedSize !== null) this.i64(checkpointedSize, 'checkpointedSize');
    if (stateHandleId !== null) this.utf(stateHandleId, 'stateHandleId', handle);
    if (storageIdentifier !== null) this.utf(storageIdentifier, 'storageIdentifier', handle);
  }

  // ---------------------------------------------------------------- channel handles

  /** Writes the channel handles of one direction. */
  channelSlot(handles: readonly AnyChannelStateHandle[], direction: 'input' | 'output'): void {
    this.out.writeI32(handles.length);
    for (const handle of handles) this.channelHandle(handle, direction);
  }

  private channelHandle(handle: AnyChannelStateHandle, direction: 'input' | 'output'): void {
    if (handle.type === 'InputChannelStateHandle' || handle.type === 'ResultSubpartitionStateHandle') {
      this.channelTag(
        handle.type,
        direction,
        handle.type === 'InputChannelStateHandle' ? ChannelTag.Input : ChannelTag.Result,
      );
      this.plainChannel(handle);
      return;
    }
    const input = handle.type === 'MergedInputChannelStateHandle';
    if (this.version < Since.channelTags) this.refuse(`a ${handle.type} before version ${Since.channelTags}`);
    this.channelTag(handle.type, direction, input ? ChannelTag.MergedInput : ChannelTag.MergedResult);
    this.i32(handle.subtaskIndex, 'subtaskIndex');
    this.i64(handle.stateSize, 'stateSize');
    this.streamHandle(handle.delegate);
    this.bytes(handle.serializedChannelOffsets);
  }

  private channelTag(type: AnyChannelStateHandle['type'], direction: 'input' | 'output', tag: number): void {
    const input = tag === ChannelTag.Input || tag === ChannelTag.MergedInput;
    if (input !== (direction === 'input')) this.refuse(`a ${type} among the ${direction} channel state`);
    if (this.version >= Since.channelTags) this.out.writeI8(tag);
  }

  private plainChannel(handle: ChannelStateHandle): void {
    if ((handle.subtaskIndex === null) !== (this.layout === '1.11')) {
      this.refuse(`a channel handle that the layout ${this.layout} has not`);
    }
    if (handle.subtaskIndex !== null) this.i32(handle.subtaskIndex, 'subtaskIndex');
    this.i32(handle.outerIndex, 'gate or partition index');
    this.i32(handle.innerIndex, 'channel or subpartition index');
    this.out.writeI32(handle.offsets.length);
    this.out.writeI64Array(handle.offsets);
    this.i64(handle.stateSize, 'stateSize');
    this.streamHandle(handle.delegate);
  }
}
