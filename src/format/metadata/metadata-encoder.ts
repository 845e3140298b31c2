/**
 * Encodes metadata: {@link writeMetadata} a whole model, {@link MetadataEncoder} piece by piece for files that do not fit in
 * memory. `writeMetadata(parseMetadata(x))` is `x`, byte for byte.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';
import {
  type CheckpointMetadata,
  type MasterState,
  type MetadataHeader,
  type OperatorHead,
  SUPPORTED_VERSIONS,
  type SubtaskEntry,
} from '../../model/checkpoint-metadata.js';
import { HandleEncoder } from './handle-encoder.js';
import { MASTER_STATE_MAGIC, METADATA_MAGIC, Since } from './tags.js';

const OPERATOR_ID = /^[0-9a-f]{32}$/;

/**
 * Call in this order: header, masterStates, operators, then for each operator beginOperator, its subtasks, endOperator; then
 * properties (version 4 and later) and trailing. Counts may be left open (`undefined`): they are patched when known.
 * Every call throws UnwritableMetadataError if the format cannot hold what it is given.
 */
export class MetadataEncoder {
  readonly out = new ByteWriter();
  private version = 0;
  private handles = new HandleEncoder(this.out, 0, 'current');
  private parallelism = 0;
  private operatorIndex = -1;
  private operatorCountAt = 0;
  private subtaskCountAt = 0;
  private subtasks = 0;

  /** Sets version and layout without writing anything: enough for {@link encodeSubtask} alone. */
  prepare(header: Pick<MetadataHeader, 'version' | 'layout'>): void {
    const { version, layout } = header;
    this.version = version;
    this.handles = new HandleEncoder(this.out, version, layout);
    if (!SUPPORTED_VERSIONS.some((known) => known === version)) this.handles.refuse(`version ${version}`);
    if (layout !== 'current' && version !== Since.coordinator)
      this.handles.refuse(`the layout ${layout} in version ${version}`);
  }

  /** Magic, version, checkpoint id. */
  header(header: MetadataHeader): void {
    const { version, checkpointId } = header;
    this.prepare(header);
    if (checkpointId < 0n) this.handles.refuse(`checkpoint id ${checkpointId}`);
    this.out.writeI32(METADATA_MAGIC);
    this.out.writeI32(version);
    this.handles.i64(checkpointId, 'checkpointId');
  }

  masterStates(states: readonly MasterState[]): void {
    this.out.writeI32(states.length);
    states.forEach((state, index) => {
      this.handles.record = `master state ${index}`;
      this.out.writeI32(MASTER_STATE_MAGIC);
      const lengthAt = this.out.position;
      this.out.writeI32(0);
      this.handles.i32(state.version, 'version');
      this.handles.utf(state.name, 'name', state);
      this.out.writeI32(state.bytes.length);
      this.out.writeBytes(state.bytes);
      this.out.patchI32(lengthAt, this.out.position - lengthAt - 4);
    });
  }

  /** Opens the operators. */
  operators(count: number | undefined): void {
    this.operatorCountAt = this.out.position;
    this.out.writeI32(count ?? 0);
  }

  /** Fills in the count that {@link operators} left open. */
  operatorsEnd(): void {
    this.out.patchI32(this.operatorCountAt, this.operatorIndex + 1);
  }

  beginOperator(head: OperatorHead): void {
    const { handles, out, version } = this;
    this.operatorIndex++;
    handles.record = `operator ${this.operatorIndex}`;
    if (!OPERATOR_ID.test(head.operatorId)) handles.refuse(`operator id ${head.operatorId}`);
    if (head.parallelism > head.maxParallelism)
      handles.refuse(`parallelism ${head.parallelism} above max parallelism ${head.maxParallelism}`);
    if (version >= Since.names) {
      handles.utf(head.name ?? '', 'name', head);
      handles.utf(head.uid ?? '', 'uid', head);
    } else if (head.name !== null || head.uid !== null) {
      handles.refuse(`an operator name or uid before version ${Since.names}`);
    }
    out.writeBytes(Buffer.from(head.operatorId, 'hex'));
    handles.i32(head.parallelism, 'parallelism');
    handles.i32(head.maxParallelism, 'maxParallelism');
    const chainLength = head.wire?.chainLength;
    if (version < Since.coordinator) handles.i32(chainLength ?? 1, 'chain length');
    else if (chainLength !== undefined) handles.refuse(`a chain length in version ${version}`);
    this.coordinatorState(head);
    this.parallelism = head.parallelism;
    this.subtasks = head.finished ? -1 : 0;
    this.subtaskCountAt = out.position;
    const stored = head.wire?.subtaskCount;
    if (stored !== undefined && (!head.finished || stored >= 0)) handles.refuse(`the subtask count ${stored}`);
    handles.i32(head.finished ? (stored ?? -1) : 0, 'number of subtasks');
  }

  private coordinatorState(head: OperatorHead): void {
    const { handles } = this;
    if (this.version < Since.coordinator) {
      if (head.coordinatorState) handles.refuse(`coordinator state before version ${Since.coordinator}`);
      if (head.finished) handles.refuse(`a finished operator before version ${Since.coordinator}`);
      return;
    }
    if (head.finished && head.coordinatorState) handles.refuse('coordinator state of a finished operator');
    handles.streamHandle(head.coordinatorState);
  }

  subtask(entry: SubtaskEntry): void {
    this.handles.record = `operator ${this.operatorIndex} / subtask ${entry.index}`;
    this.countSubtask(entry.index);
    this.encodeSubtask(entry);
  }

  /** Counts a subtask of the operator whose bytes come from elsewhere. */
  countSubtask(index: number): void {
    const { handles } = this;
    if (this.subtasks < 0) handles.refuse('a subtask of a finished operator');
    this.subtasks++;
    if (index < 0 || index >= this.parallelism) {
      handles.refuse(`subtask index ${index} of parallelism ${this.parallelism}`);
    }
  }

  /** The bytes of a subtask, of whatever operator. */
  encodeSubtask(entry: SubtaskEntry): void {
    const { handles, version } = this;
    handles.record = `operator ${this.operatorIndex} / subtask ${entry.index}`;
    if (entry.index < 0) handles.refuse(`subtask index ${entry.index}`);
    if (entry.finished) {
      if (version < Since.coordinator) handles.refuse(`a finished subtask before version ${Since.coordinator}`);
      handles.i32(-1 - entry.index, 'subtask index');
      return;
    }
    handles.i32(entry.index, 'subtask index');
    const { wire } = entry;
    if (version < Since.coordinator) {
      handles.i64(wire?.duration ?? -1n, 'duration');
      handles.i32(0, 'number of legacy states');
    } else if (wire?.duration !== undefined) {
      handles.refuse(`a duration in version ${version}`);
    }
    handles.operatorSlot(entry.managedOperatorState, wire?.managedOperatorStatePresence);
    handles.operatorSlot(entry.rawOperatorState, wire?.rawOperatorStatePresence);
    handles.keyedHandle(entry.managedKeyedState);
    handles.keyedHandle(entry.rawKeyedState);
    if (version >= Since.channels) {
      handles.channelSlot(entry.inputChannelState, 'input');
      handles.channelSlot(entry.resultSubpartitionState, 'output');
    } else if (entry.inputChannelState.length + entry.resultSubpartitionState.length > 0) {
      handles.refuse(`channel state before version ${Since.channels}`);
    }
  }

  endOperator(): void {
    if (this.subtasks >= 0) this.out.patchI32(this.subtaskCountAt, this.subtasks);
  }

  /** The Java object stream of version 4 and later; null before. */
  properties(block: Uint8Array | null): void {
    this.handles.record = 'properties';
    if ((block !== null) !== this.version >= Since.properties) {
      this.handles.refuse(`${block ? 'a properties block' : 'no properties block'} in version ${this.version}`);
    }
    if (block) this.out.writeBytes(block);
  }

  /** Bytes behind the last field. */
  trailing(bytes: Uint8Array): void {
    this.out.writeBytes(bytes);
  }
}

/**
 * The bytes of a metadata file.
 * @throws UnwritableMetadataError if the format cannot hold the model
 */
export function writeMetadata(metadata: CheckpointMetadata): Uint8Array {
  const encoder = new MetadataEncoder();
  encoder.header(metadata);
  encoder.masterStates(metadata.masterStates);
  encoder.operators(metadata.operatorStates.length);
  for (const operator of metadata.operatorStates) {
    encoder.beginOperator(operator);
    for (const subtask of operator.subtasks) encoder.subtask(subtask);
    encoder.endOperator();
  }
  encoder.properties(metadata.propertiesBlock);
  encoder.trailing(metadata.trailingBytes);
  return encoder.out.drain();
}
