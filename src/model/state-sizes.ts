/**
 * How big state is, by Flink's own sums (`getStateSize`, `getCheckpointedSize`), in bytes. Sums wrap at 64 bits as in Java;
 * a recorded size of -1 (unknown) counts as -1, as it does there.
 */
import type { OperatorHead, SubtaskEntry } from './checkpoint-metadata.js';
import type {
  AnyChannelStateHandle,
  HandleAndLocalPath,
  KeyedStateHandle,
  OperatorStateHandle,
  StreamStateHandle,
} from './state-handles.js';

/** What Flink takes for "not recorded" in an incremental handle. */
const UNKNOWN_CHECKPOINTED_SIZE = -1n;

const wrap = (size: bigint): bigint => BigInt.asIntN(64, size);
const sum = (sizes: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const size of sizes) total += size;
  return wrap(total);
};

/** `StreamStateHandle.getStateSize`; 0 for null. */
export function streamStateSize(handle: StreamStateHandle | null): bigint {
  if (!handle) return 0n;
  switch (handle.type) {
    case 'EmptySegmentFileStateHandle':
      return 0n;
    case 'ByteStreamStateHandle':
      return BigInt(handle.bytes.length);
    case 'KeyGroupsStateHandle':
      return streamStateSize(handle.delegateStateHandle);
    default:
      return handle.stateSize;
  }
}

const filesSize = (files: readonly HandleAndLocalPath[]): bigint =>
  sum(files.map((file) => streamStateSize(file.handle)));

/** `KeyedStateHandle.getStateSize`; 0 for null. */
export function keyedStateSize(handle: KeyedStateHandle | null): bigint {
  switch (handle?.type) {
    case undefined:
      return 0n;
    case 'KeyGroupsStateHandle':
    case 'KeyGroupsSavepointStateHandle':
      return streamStateSize(handle.delegateStateHandle);
    case 'IncrementalRemoteKeyedStateHandle':
      return wrap(
        streamStateSize(handle.metaStateHandle) + filesSize(handle.sharedState) + filesSize(handle.privateState),
      );
    case 'ChangelogStateBackendHandleImpl':
      return sum([...handle.materializedStateHandles, ...handle.nonMaterializedStateHandles].map(keyedStateSize));
    case 'InMemoryChangelogStateHandle':
      return sum(handle.changes.map(({ change }) => BigInt(change.length)));
    case 'ChangelogStateHandleStreamImpl':
      return handle.stateSize;
  }
}

/** `KeyedStateHandle.getCheckpointedSize`: what the checkpoint added. Where it is not recorded, Flink takes the full size. */
export function keyedCheckpointedSize(handle: KeyedStateHandle | null): bigint {
  switch (handle?.type) {
    case 'IncrementalRemoteKeyedStateHandle': {
      const { checkpointedSize } = handle;
      return checkpointedSize === null || checkpointedSize === UNKNOWN_CHECKPOINTED_SIZE
        ? keyedStateSize(handle)
        : checkpointedSize;
    }
    case 'ChangelogStateBackendHandleImpl':
    case 'ChangelogStateHandleStreamImpl':
      return handle.checkpointedSize ?? keyedStateSize(handle);
    default:
      return keyedStateSize(handle ?? null);
  }
}

/** `OperatorStateHandle.getStateSize`; 0 for null. */
export function operatorStateHandleSize(handle: OperatorStateHandle | null): bigint {
  return handle ? streamStateSize(handle.delegateStateHandle) : 0n;
}

/** Full size of a subtask and what the checkpoint added to it. */
export interface StateSizes {
  readonly stateSize: bigint;
  readonly checkpointedSize: bigint;
}

const channelSize = (handles: readonly AnyChannelStateHandle[]): bigint =>
  sum(handles.map((handle) => handle.stateSize));

/** `OperatorSubtaskState.getStateSize` and `getCheckpointedSize`. */
export function subtaskSizes(entry: SubtaskEntry): StateSizes {
  if (entry.finished) return { stateSize: 0n, checkpointedSize: 0n };
  const other =
    operatorStateHandleSize(entry.managedOperatorState) +
    operatorStateHandleSize(entry.rawOperatorState) +
    channelSize(entry.inputChannelState) +
    channelSize(entry.resultSubpartitionState);
  const keyed = [entry.managedKeyedState, entry.rawKeyedState];
  return {
    stateSize: wrap(other + sum(keyed.map(keyedStateSize))),
    checkpointedSize: wrap(other + sum(keyed.map(keyedCheckpointedSize))),
  };
}

/** Bytes of the coordinator state, which counts as state and as checkpointed. */
export function coordinatorStateSize(head: OperatorHead): bigint {
  return streamStateSize(head.coordinatorState);
}
