/** Decodes a metadata file from behind its version number to its end. Origin: Flink `MetadataV2Serializer` to `MetadataV6Serializer`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { MetadataLayout } from '../../model/checkpoint-metadata.js';
import { readCheckpointProperties } from '../java/properties.js';
import { type Decoding, HandleDecoder, LOW_WATER } from './handle-decoder.js';
import { RecordPath } from './record-path.js';
import { MASTER_STATE_MAGIC, Since, Tag } from './tags.js';
import { MasterStateView, type MetadataVisitor, OperatorView, Role, Slot, SubtaskView } from './visitor.js';

/** Least bytes of a master state and of a subtask entry. */
const LEAST_MASTER_STATE = 18;
const LEAST_SUBTASK = 4;
/** A properties block beyond this size is refused, however the file is read; Flink writes less than 1 KiB. */
const MAX_PROPERTIES_BYTES = LOW_WATER;

/** See the file comment. One instance for one pass. */
export class MetadataDecoder {
  readonly path = new RecordPath();
  private readonly handles: HandleDecoder;
  private readonly masterStateView = new MasterStateView();
  private readonly operatorView = new OperatorView();
  private readonly subtaskView = new SubtaskView();
  private readonly visitor: MetadataVisitor;
  private coordinatorTag: number = Tag.Null;

  /** @param reader stands behind the version number */
  constructor(
    private readonly reader: ByteReader,
    visitor: MetadataVisitor,
    private readonly version: number,
    private readonly layout: MetadataLayout,
  ) {
    this.visitor = visitor;
    this.handles = new HandleDecoder(reader, visitor, this.path, version, layout);
  }

  /** True once something was read that older layouts of the same version have in another form. */
  get sawAmbiguousForm(): boolean {
    return this.handles.sawChangelogForm || this.handles.sawChannelForm;
  }

  /** The whole pass. */
  *decode(): Decoding {
    const { reader, visitor, path } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const checkpointId = reader.readBigInt64('checkpoint id');
    if (checkpointId < 0n) reader.fail('checkpoint id', `the negative number ${checkpointId}`, reader.offset - 8);
    visitor.header({ version: this.version, layout: this.layout, checkpointId });
    const masterStates = reader.readCount('number of master states', LEAST_MASTER_STATE);
    for (let i = 0; i < masterStates; i++) {
      path.masterState = i;
      yield* this.masterState();
    }
    path.masterState = -1;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const operators = reader.readCount('number of operators', this.leastOperatorBytes());
    visitor.operatorCount(operators);
    for (let i = 0; i < operators; i++) {
      path.operator = i;
      yield* this.operator();
    }
    path.operator = -1;
    if (this.version >= Since.properties) yield* this.properties();
    const trailing = reader.remaining;
    visitor.trailing(trailing);
    if (trailing > 0) yield* this.handles.data(trailing, 'bytes after the end');
  }

  private leastOperatorBytes(): number {
    return 16 + 12 + (this.version >= Since.names ? 4 : 0) + (this.version >= Since.coordinator ? 1 : 4);
  }

  private *masterState(): Decoding {
    const { reader, masterStateView: view } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const magic = reader.readI32('magic number of a master state');
    if (magic !== MASTER_STATE_MAGIC) {
      reader.fail('magic number of a master state', `0x${(magic >>> 0).toString(16)}`, reader.offset - 4);
    }
    const at = reader.offset;
    const length = reader.readCount('length of a master state', 1);
    const start = reader.offset;
    view.version = reader.readI32('version of a master state');
    reader.readUtf('name of a master state', view.name);
    view.dataLength = reader.readCount('number of bytes of a master state', 1);
    const used = reader.offset - start + view.dataLength;
    if (used !== length) reader.fail(`length of a master state (${used})`, `${length}`, at);
    this.visitor.masterState(view);
    yield* this.handles.data(view.dataLength, 'bytes of a master state');
  }

  private *operator(): Decoding {
    const { reader, operatorView: view, visitor, path } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    view.name.clear();
    view.uid.clear();
    if (this.version >= Since.names) {
      reader.readUtf('operator name', view.name);
      reader.readUtf('operator uid', view.uid);
    }
    view.operatorId = this.operatorId();
    path.operatorId = view.operatorId;
    const at = reader.offset;
    view.parallelism = reader.readI32('parallelism');
    view.maxParallelism = reader.readI32('max parallelism');
    if (view.parallelism > view.maxParallelism) {
      reader.fail('a parallelism not above the max parallelism', `${view.parallelism} and ${view.maxParallelism}`, at);
    }
    view.chainLength = this.version < Since.coordinator ? reader.readI32('chain length') : 1;
    visitor.beginOperator(view);
    if (this.version >= Since.coordinator) yield* this.coordinatorState();
    yield* this.subtasks(view.parallelism);
    visitor.endOperator();
  }

  private operatorId(): string {
    const start = this.reader.take(16, 'operator id');
    let id = '';
    for (let i = start; i < start + 16; i++) id += (this.reader.buffer[i] as number).toString(16).padStart(2, '0');
    return id;
  }

  private *coordinatorState(): Decoding {
    const { reader, path } = this;
    path.part = 'coordinator state';
    if (reader.wantsRefill(LOW_WATER)) yield;
    // Looked at first: a file here would be decoded before it is refused.
    const tag = this.handles.peekTag() ?? Tag.Null;
    if (tag !== Tag.Null && tag !== Tag.ByteStream) reader.fail('a coordinator state (type 0 or 1)', `type ${tag}`);
    this.coordinatorTag = tag;
    yield* this.handles.streamHandle(Role.Coordinator);
    path.part = '';
  }

  private *subtasks(parallelism: number): Decoding {
    const { reader, visitor, path, subtaskView: view } = this;
    if (reader.wantsRefill(LOW_WATER)) yield;
    const at = reader.offset;
    const count = this.subtaskCount();
    if (count < 0 && this.coordinatorTag !== Tag.Null) {
      reader.fail('no coordinator state of a finished operator', 'one', at);
    }
    visitor.subtaskCount(count);
    for (let i = 0; i < count; i++) {
      if (reader.wantsRefill(LOW_WATER)) yield;
      const stored = reader.readI32('subtask index');
      view.finished = stored < 0 && this.version >= Since.coordinator;
      view.index = view.finished ? -1 - stored : stored;
      path.subtask = view.index;
      if (view.index < 0 || view.index >= parallelism) {
        reader.fail(`a subtask index below the parallelism ${parallelism}`, `${view.index}`, reader.offset - 4);
      }
      if (view.finished) visitor.beginSubtask(view);
      else yield* this.subtaskState();
      visitor.endSubtask();
    }
    path.subtask = -1;
  }

  /** Negative for a finished operator. */
  private subtaskCount(): number {
    const { reader } = this;
    const at = reader.offset;
    const count = reader.readI32('number of subtasks');
    if (count < 0 && this.version < Since.coordinator)
      reader.fail('number of subtasks', `the negative number ${count}`, at);
    if (count * LEAST_SUBTASK > reader.remaining) {
      reader.fail(
        'number of subtasks',
        `${count}, which needs ${count * LEAST_SUBTASK} bytes where ${reader.remaining} remain`,
        at,
      );
    }
    return count;
  }

  private *subtaskState(): Decoding {
    const { reader, visitor, path, handles, subtaskView: view } = this;
    view.duration.high = -1;
    view.duration.low = 0xffffffff;
    if (this.version < Since.coordinator) {
      reader.readI64('duration');
      view.duration.high = reader.high;
      view.duration.low = reader.low;
      const legacy = reader.readI32('number of legacy states');
      if (legacy > 0) {
        reader.fail('no legacy state (Flink 1.11 and later cannot read any)', `${legacy}`, reader.offset - 4);
      }
      if (legacy < 0) reader.fail('number of legacy states', `the negative number ${legacy}`, reader.offset - 4);
    }
    visitor.beginSubtask(view);
    yield* handles.operatorSlot(Slot.ManagedOperator);
    yield* handles.operatorSlot(Slot.RawOperator);
    yield* handles.keyedSlot(Slot.ManagedKeyed);
    yield* handles.keyedSlot(Slot.RawKeyed);
    if (this.version >= Since.channels) {
      yield* handles.channelSlot(Slot.InputChannel);
      yield* handles.channelSlot(Slot.ResultSubpartition);
    }
    path.slot = -1;
  }

  private *properties(): Decoding {
    const { reader, path } = this;
    path.part = 'properties';
    if (reader.wantsRefill(MAX_PROPERTIES_BYTES)) yield;
    const start = reader.position;
    const size = Math.min(reader.remaining, MAX_PROPERTIES_BYTES);
    try {
      const { end } = readCheckpointProperties(reader.buffer.subarray(start, start + size), 0);
      reader.take(end, 'properties');
      this.visitor.properties(reader.buffer, start, start + end);
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      // Where the block may be larger than what was looked at, its end is not that of the file.
      const more = reader.remaining > size ? ` (of the properties only the first ${size} bytes are read)` : '';
      throw new ByteFormatError(reader.offset + error.offset, error.reading, error.found + more);
    }
    path.part = '';
  }
}
