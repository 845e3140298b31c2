/** The parts of a metadata document around its handles. */
import type {
  FinishedOperatorSubtaskState,
  MasterState,
  OperatorHead,
  SubtaskEntry,
} from '../../model/checkpoint-metadata.js';
import { subtaskSizes } from '../../model/state-sizes.js';
import { type OperatorSizes, type OperatorSummary, operatorSizes } from '../size-summary.js';
import { type HandleDocuments, rawStrings, wireOf } from './handle-to-document.js';
import { type DocumentObject, type DocumentValue, int64 } from './values.js';

/** A master state. */
export function masterStateDocument(state: MasterState, documents: HandleDocuments): DocumentObject {
  return {
    name: state.name,
    version: state.version,
    size: state.bytes.length,
    bytes: documents.values.base64(state.bytes),
    ...wireOf({ utf: rawStrings(state.wire?.utf) }),
  };
}

const NOTHING = {
  managedOperatorState: [],
  rawOperatorState: [],
  managedKeyedState: [],
  rawKeyedState: [],
  inputChannelState: [],
  resultSubpartitionState: [],
  upstreamOutputBufferState: [],
} as const;

function finishedSubtask(entry: FinishedOperatorSubtaskState): DocumentObject {
  return { index: entry.index, finished: true, stateSize: 0, checkpointedSize: 0, ...NOTHING };
}

/** A subtask with all its handles. */
export function subtaskDocument(entry: SubtaskEntry, documents: HandleDocuments): DocumentObject {
  if (entry.finished) return finishedSubtask(entry);
  const { stateSize, checkpointedSize } = subtaskSizes(entry);
  const { wire } = entry;
  return {
    index: entry.index,
    finished: false,
    stateSize: int64(stateSize),
    checkpointedSize: int64(checkpointedSize),
    managedOperatorState: documents.operatorState(entry.managedOperatorState),
    rawOperatorState: documents.operatorState(entry.rawOperatorState),
    managedKeyedState: documents.keyedState(entry.managedKeyedState),
    rawKeyedState: documents.keyedState(entry.rawKeyedState),
    inputChannelState: documents.channelState(entry.inputChannelState),
    resultSubpartitionState: documents.channelState(entry.resultSubpartitionState),
    upstreamOutputBufferState: [],
    ...wireOf({
      duration: wire?.duration === undefined ? undefined : int64(wire.duration),
      managedOperatorStatePresence: wire?.managedOperatorStatePresence,
      rawOperatorStatePresence: wire?.rawOperatorStatePresence,
    }),
  };
}

/** A subtask entry that a later one replaces, and where in the file it stands. */
export interface OverwrittenSubtask {
  readonly position: number;
  readonly entry: SubtaskEntry;
}

/** An operator without its subtasks; `wire` tells of the subtask entries that Flink does not see. */
export function operatorDocument(
  head: OperatorHead,
  summary: OperatorSummary,
  overwritten: readonly OverwrittenSubtask[],
  documents: HandleDocuments,
): DocumentObject {
  const sizes: OperatorSizes = operatorSizes(summary);
  const hidden: DocumentValue[] = overwritten.map(({ position, entry }) => ({
    position,
    subtask: subtaskDocument(entry, documents),
  }));
  return {
    operatorId: head.operatorId,
    uid: head.uid,
    name: head.name,
    parallelism: head.parallelism,
    maxParallelism: head.maxParallelism,
    finished: head.finished,
    stateSize: int64(sizes.stateSize),
    checkpointedSize: int64(sizes.checkpointedSize),
    coordinatorState: documents.stream(head.coordinatorState),
    ...wireOf({
      chainLength: head.wire?.chainLength,
      subtaskCount: head.wire?.subtaskCount,
      overwrittenSubtasks: hidden.length > 0 ? hidden : undefined,
      utf: rawStrings(head.wire?.utf),
    }),
  };
}
