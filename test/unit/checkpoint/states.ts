/** Small handles and checkpoints for tests. */
import type { OperatorState, OperatorSubtaskState } from '../../../src/model/checkpoint-metadata.js';
import type {
  ByteStreamStateHandle,
  ChangelogStateBackendHandleImpl,
  ChangelogStateHandleStreamImpl,
  FileMergingOperatorStreamStateHandle,
  FileStateHandle,
  IncrementalRemoteKeyedStateHandle,
  InputChannelStateHandle,
  KeyGroupsSavepointStateHandle,
  KeyGroupsStateHandle,
  MergedResultSubpartitionStateHandle,
  OperatorStreamStateHandle,
  RelativeFileStateHandle,
  SegmentFileStateHandle,
  StreamStateHandle,
} from '../../../src/model/state-handles.js';

export const JOB = 'ac2b9833d8854441eaabf09eca054206';
export const OPERATOR = '0a448493b4782967b150582570326227';
export const OTHER_OPERATOR = 'ea632d67b7d595e5b851708ae9ad79d6';

const RANGE = { startKeyGroup: 0, numberOfKeyGroups: 1 };

export function file(filePath: string, size = 1): FileStateHandle {
  return { type: 'FileStateHandle', filePath, stateSize: BigInt(size) };
}

export function relative(relativePath: string): RelativeFileStateHandle {
  return { type: 'RelativeFileStateHandle', relativePath, stateSize: 1n };
}

export function inline(handleName: string): ByteStreamStateHandle {
  return { type: 'ByteStreamStateHandle', handleName, bytes: Uint8Array.of(1, 2, 3) };
}

export function segment(filePath: string): SegmentFileStateHandle {
  const logicalFileId = 'b2a5b6f2-5cbb-4b0e-a7a5-7be0e3b5e0c5';
  return { type: 'SegmentFileStateHandle', filePath, startPos: 0n, stateSize: 1n, scope: 'SHARED', logicalFileId };
}

export function keyGroups(delegateStateHandle: StreamStateHandle): KeyGroupsStateHandle {
  return {
    type: 'KeyGroupsStateHandle',
    keyGroupRange: RANGE,
    keyGroupOffsets: BigInt64Array.of(0n),
    stateHandleId: '2c8f7b2e-4d3a-4d0b-8f43-8d0b5b6d2f10',
    delegateStateHandle,
  };
}

export function savepointKeyGroups(delegateStateHandle: StreamStateHandle): KeyGroupsSavepointStateHandle {
  const keyGroupOffsets = BigInt64Array.of(0n);
  return { type: 'KeyGroupsSavepointStateHandle', keyGroupRange: RANGE, keyGroupOffsets, delegateStateHandle };
}

export function incremental(
  meta: StreamStateHandle,
  shared: readonly StreamStateHandle[],
  own: readonly StreamStateHandle[],
): IncrementalRemoteKeyedStateHandle {
  const named = (handles: readonly StreamStateHandle[], name: string) =>
    handles.map((handle, index) => ({ localPath: `${name}-${index}`, handle }));
  return {
    type: 'IncrementalRemoteKeyedStateHandle',
    checkpointId: 1n,
    backendIdentifier: '5f1d7a1c-6a2b-4a8e-9f3e-1b2c3d4e5f60',
    keyGroupRange: RANGE,
    checkpointedSize: 1n,
    stateHandleId: 'c0ffee00-4d3a-4d0b-8f43-8d0b5b6d2f10',
    metaStateHandle: meta,
    sharedState: named(shared, 'shared'),
    privateState: named(own, 'private'),
  };
}

export function changelogFiles(filePath: string): ChangelogStateHandleStreamImpl {
  return {
    type: 'ChangelogStateHandleStreamImpl',
    keyGroupRange: RANGE,
    handlesAndOffsets: [{ offset: 0n, handle: file(filePath) }],
    stateSize: 1n,
    checkpointedSize: 1n,
    stateHandleId: 'c0ffee01-4d3a-4d0b-8f43-8d0b5b6d2f10',
    storageIdentifier: 'filesystem',
  };
}

export function changelog(materialized: string, changes: string): ChangelogStateBackendHandleImpl {
  return {
    type: 'ChangelogStateBackendHandleImpl',
    keyGroupRange: RANGE,
    checkpointedSize: 1n,
    materializedStateHandles: [keyGroups(file(materialized))],
    nonMaterializedStateHandles: [changelogFiles(changes)],
    materializationID: 1n,
    checkpointId: 1n,
    stateHandleId: 'c0ffee02-4d3a-4d0b-8f43-8d0b5b6d2f10',
  };
}

export function operatorState(delegateStateHandle: StreamStateHandle): OperatorStreamStateHandle {
  const offsets = BigInt64Array.of(0n);
  return {
    type: 'OperatorStreamStateHandle',
    stateNameToPartitionOffsets: [{ name: 'list', distributionMode: 'SPLIT_DISTRIBUTE', offsets }],
    delegateStateHandle,
  };
}

export function mergedOperatorState(delegate: SegmentFileStateHandle): FileMergingOperatorStreamStateHandle {
  return {
    type: 'FileMergingOperatorStreamStateHandle',
    stateNameToPartitionOffsets: [],
    taskOwnedDirectory: 'memory:/job/taskowned/tm',
    sharedDirectory: 'memory:/job/shared/op',
    delegateStateHandle: delegate,
  };
}

export function channel(delegate: StreamStateHandle, innerIndex = 0): InputChannelStateHandle {
  const offsets = BigInt64Array.of(0n);
  return {
    type: 'InputChannelStateHandle',
    subtaskIndex: 0,
    outerIndex: 0,
    innerIndex,
    offsets,
    stateSize: 1n,
    delegate,
  };
}

export function mergedChannels(delegate: StreamStateHandle | null): MergedResultSubpartitionStateHandle {
  // The number of channels: none.
  const serializedChannelOffsets = new Uint8Array(4);
  return {
    type: 'MergedResultSubpartitionStateHandle',
    subtaskIndex: 0,
    stateSize: 1n,
    delegate,
    serializedChannelOffsets,
  };
}

export function subtask(index: number, state: Partial<OperatorSubtaskState> = {}): OperatorSubtaskState {
  return {
    index,
    finished: false,
    managedOperatorState: null,
    rawOperatorState: null,
    managedKeyedState: null,
    rawKeyedState: null,
    inputChannelState: [],
    resultSubpartitionState: [],
    ...state,
  };
}

export function operator(operatorId: string, subtasks: OperatorState['subtasks']): OperatorState {
  return {
    operatorId,
    name: null,
    uid: null,
    parallelism: 2,
    maxParallelism: 128,
    finished: false,
    coordinatorState: null,
    subtasks,
  };
}
