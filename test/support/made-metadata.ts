/** Metadata made by hand, for tests of what no fixture has. Written by our own writer, which the format tests prove. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeMetadata } from '../../src/format/metadata/metadata-encoder.js';
import type { CheckpointMetadata, OperatorState, OperatorSubtaskState } from '../../src/model/checkpoint-metadata.js';
import type {
  ByteStreamStateHandle,
  FileStateHandle,
  HandleAndLocalPath,
  IncrementalRemoteKeyedStateHandle,
  KeyGroupsStateHandle,
  OperatorStreamStateHandle,
  RelativeFileStateHandle,
  StreamStateHandle,
} from '../../src/model/state-handles.js';

/** A file of `size` bytes by its absolute path. */
export function file(filePath: string, size = 100): FileStateHandle {
  return { type: 'FileStateHandle', filePath, stateSize: BigInt(size) };
}

/** A file of `size` bytes in the checkpoint's own directory. */
export function relativeFile(relativePath: string, size = 100): RelativeFileStateHandle {
  return { type: 'RelativeFileStateHandle', relativePath, stateSize: BigInt(size) };
}

/** Bytes inside the metadata. */
export function inline(size = 10, handleName = 'bytes'): ByteStreamStateHandle {
  return { type: 'ByteStreamStateHandle', handleName, bytes: new Uint8Array(size) };
}

/** Keyed state of the heap backend. */
export function keyGroups(delegateStateHandle: StreamStateHandle, startKeyGroup = 0): KeyGroupsStateHandle {
  return {
    type: 'KeyGroupsStateHandle',
    keyGroupRange: { startKeyGroup, numberOfKeyGroups: 2 },
    keyGroupOffsets: BigInt64Array.of(5n, 9n),
    stateHandleId: '00000000-0000-0000-0000-000000000001',
    delegateStateHandle,
  };
}

/** Keyed state of RocksDB with these files in its shared list. */
export function incremental(shared: readonly StreamStateHandle[]): IncrementalRemoteKeyedStateHandle {
  const sharedState = shared.map((handle, index): HandleAndLocalPath => ({ localPath: `00000${index}.sst`, handle }));
  return {
    type: 'IncrementalRemoteKeyedStateHandle',
    checkpointId: 1n,
    backendIdentifier: '00000000-0000-0000-0000-0000000000aa',
    keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 128 },
    checkpointedSize: 0n,
    stateHandleId: '00000000-0000-0000-0000-000000000002',
    metaStateHandle: inline(7),
    sharedState,
    privateState: [],
  };
}

/** Operator state with the named lists, each of one element. */
export function operatorState(
  delegateStateHandle: StreamStateHandle,
  ...names: readonly string[]
): OperatorStreamStateHandle {
  return {
    type: 'OperatorStreamStateHandle',
    stateNameToPartitionOffsets: names.map((name) => ({
      name,
      distributionMode: 'SPLIT_DISTRIBUTE',
      offsets: BigInt64Array.of(0n),
    })),
    delegateStateHandle,
  };
}

/** A subtask without state, but for what is given. */
export function subtask(more: Partial<OperatorSubtaskState> = {}): OperatorSubtaskState {
  return {
    index: 0,
    finished: false,
    managedOperatorState: null,
    rawOperatorState: null,
    managedKeyedState: null,
    rawKeyedState: null,
    inputChannelState: [],
    resultSubpartitionState: [],
    ...more,
  };
}

/** An operator id of 32 digits that ends with the number. */
export function operatorId(number: number): string {
  return number.toString(16).padStart(32, '0');
}

/** An operator of parallelism 1 without subtasks, but for what is given. */
export function operator(more: Partial<OperatorState> = {}): OperatorState {
  return {
    operatorId: operatorId(1),
    uid: null,
    name: null,
    parallelism: 1,
    maxParallelism: 128,
    finished: false,
    coordinatorState: null,
    subtasks: [],
    ...more,
  };
}

/** The properties block that says null. */
const NULL_PROPERTIES = Uint8Array.of(0xac, 0xed, 0, 5, 0x70);

/** The bytes of a metadata file of version 6 with the properties null, but for what is given. */
export function metadata(more: Partial<CheckpointMetadata> = {}): Uint8Array {
  const version = more.version ?? 6;
  return writeMetadata({
    version,
    layout: 'current',
    checkpointId: 1n,
    masterStates: [],
    operatorStates: [],
    propertiesBlock: version >= 4 ? NULL_PROPERTIES : null,
    trailingBytes: new Uint8Array(),
    ...more,
  });
}

/** Puts metadata into a directory, which is made. @returns the directory */
export async function checkpointAt(directory: string, bytes: Uint8Array = metadata()): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, '_metadata'), bytes);
  return directory;
}
