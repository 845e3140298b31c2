import { describe, expect, it } from 'vitest';
import { UnwritableMetadataError } from '../../../../src/errors.js';
import { MetadataEncoder, writeMetadata } from '../../../../src/format/metadata/metadata-encoder.js';
import { parseMetadata } from '../../../../src/format/metadata/model-reader.js';
import type {
  CheckpointMetadata,
  OperatorState,
  OperatorSubtaskState,
} from '../../../../src/model/checkpoint-metadata.js';
import type {
  AnyChannelStateHandle,
  ByteStreamStateHandle,
  FileStateHandle,
  KeyedStateHandle,
  OperatorStateHandle,
  StreamStateHandle,
} from '../../../../src/model/state-handles.js';
import { hex } from '../../../support/byte-builder.js';
import { metadataFile, NULL_PROPERTIES } from '../../../support/metadata-builder.js';
import { expectSameBytes } from '../../../support/metadata-cycle.js';

const numbers = (...values: number[]): BigInt64Array => BigInt64Array.from(values, BigInt);
const file: FileStateHandle = { type: 'FileStateHandle', filePath: 'file:/f', stateSize: 1n };
const inline: ByteStreamStateHandle = { type: 'ByteStreamStateHandle', handleName: 'n', bytes: hex('07') };
const TOO_LONG = 'a'.repeat(0x10000);

function metadata(version: number, more: Partial<CheckpointMetadata> = {}): CheckpointMetadata {
  return {
    version,
    layout: 'current',
    checkpointId: 7n,
    masterStates: [],
    operatorStates: [],
    propertiesBlock: version >= 4 ? NULL_PROPERTIES : null,
    trailingBytes: new Uint8Array(0),
    ...more,
  };
}

function operator(more: Partial<OperatorState> = {}): OperatorState {
  return {
    operatorId: '0123456789abcdef0123456789abcdef',
    uid: null,
    name: null,
    parallelism: 2,
    maxParallelism: 128,
    finished: false,
    coordinatorState: null,
    subtasks: [],
    ...more,
  };
}

function subtask(more: Partial<OperatorSubtaskState> = {}): OperatorSubtaskState {
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

const withOperator = (version: number, more: Partial<OperatorState>): CheckpointMetadata =>
  metadata(version, { operatorStates: [operator(more)] });
const withSubtask = (version: number, more: Partial<OperatorSubtaskState>): CheckpointMetadata =>
  withOperator(version, { subtasks: [subtask(more)] });
const withKeyed = (handle: KeyedStateHandle, version = 6, layout: CheckpointMetadata['layout'] = 'current') => ({
  ...withSubtask(version, { managedKeyedState: handle }),
  layout,
});
const withStream = (delegateStateHandle: StreamStateHandle): CheckpointMetadata =>
  withSubtask(6, {
    rawOperatorState: { type: 'OperatorStreamStateHandle', stateNameToPartitionOffsets: [], delegateStateHandle },
  });

const keyGroups: KeyedStateHandle = {
  type: 'KeyGroupsStateHandle',
  keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
  keyGroupOffsets: numbers(1, 2),
  stateHandleId: 'id',
  delegateStateHandle: file,
};
const incremental: KeyedStateHandle = {
  type: 'IncrementalRemoteKeyedStateHandle',
  checkpointId: 7n,
  backendIdentifier: 'b',
  keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
  checkpointedSize: 1n,
  stateHandleId: 'id',
  metaStateHandle: file,
  sharedState: [],
  privateState: [],
};
const changelog = {
  type: 'ChangelogStateBackendHandleImpl',
  keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
  checkpointedSize: 1n,
  materializedStateHandles: [],
  nonMaterializedStateHandles: [],
  materializationID: 2n,
  checkpointId: 3n,
  stateHandleId: 'id',
} as const;
const changes = {
  type: 'InMemoryChangelogStateHandle',
  keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
  from: 0n,
  to: 1n,
  changes: [],
  stateHandleId: 'id',
} as const;
const changelogFiles = {
  type: 'ChangelogStateHandleStreamImpl',
  keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 2 },
  handlesAndOffsets: [],
  stateSize: 1n,
  checkpointedSize: 1n,
  stateHandleId: 'id',
  storageIdentifier: 'filesystem',
} as const;
const merged = {
  type: 'FileMergingOperatorStreamStateHandle',
  stateNameToPartitionOffsets: [],
  taskOwnedDirectory: 'file:/t',
  sharedDirectory: 'file:/s',
  delegateStateHandle: { type: 'EmptySegmentFileStateHandle' },
} as const;
const channel: AnyChannelStateHandle = {
  type: 'InputChannelStateHandle',
  subtaskIndex: 0,
  outerIndex: 0,
  innerIndex: 0,
  offsets: numbers(),
  stateSize: 0n,
  delegate: file,
};
const mergedChannel: AnyChannelStateHandle = {
  type: 'MergedInputChannelStateHandle',
  subtaskIndex: 0,
  stateSize: 0n,
  delegate: file,
  serializedChannelOffsets: hex(''),
};

const OPERATOR = 'operator 0';
const SUBTASK = 'operator 0 / subtask 0';

/** Models that no file can hold: the record and a part of the reason. */
const refused: readonly (readonly [what: string, model: CheckpointMetadata, record: string, reason: string])[] = [
  ['version 1', metadata(1), 'header', 'version 1'],
  ['version 7', metadata(7), 'header', 'version 7'],
  ['version 2.5', metadata(2.5), 'header', 'version 2.5'],
  ['a layout of version 3 in version 4', metadata(4, { layout: '1.14' }), 'header', 'the layout 1.14 in version 4'],
  ['a negative checkpoint id', metadata(6, { checkpointId: -1n }), 'header', 'checkpoint id -1'],
  ['a checkpoint id of 64 bits and more', metadata(6, { checkpointId: 2n ** 63n }), 'header', 'no 64-bit integer'],
  ['properties in version 3', metadata(3, { propertiesBlock: NULL_PROPERTIES }), 'properties', 'a properties block'],
  ['no properties in version 4', metadata(4, { propertiesBlock: null }), 'properties', 'no properties block'],
  [
    'a master state of version 2^31',
    metadata(6, { masterStates: [{ name: 'm', version: 2 ** 31, bytes: hex('') }] }),
    'master state 0',
    'version 2147483648 is no 32-bit integer',
  ],
  [
    'a long name of a master state',
    metadata(6, { masterStates: [{ name: TOO_LONG, version: 1, bytes: hex('') }] }),
    'master state 0',
    'a string of 65536 encoded bytes, where the format allows 65535',
  ],
  ['an operator id in upper case', withOperator(6, { operatorId: 'A'.repeat(32) }), OPERATOR, 'operator id AAAA'],
  ['a short operator id', withOperator(6, { operatorId: 'ab' }), OPERATOR, 'operator id ab'],
  ['parallelism above max parallelism', withOperator(6, { parallelism: 129 }), OPERATOR, 'above max parallelism 128'],
  ['half a parallelism', withOperator(6, { parallelism: 0.5 }), OPERATOR, 'parallelism 0.5 is no 32-bit integer'],
  ['a name in version 4', withOperator(4, { name: 'n' }), OPERATOR, 'name or uid before version 5'],
  ['a uid in version 2', withOperator(2, { uid: 'u' }), OPERATOR, 'name or uid before version 5'],
  ['a long name of an operator', withOperator(6, { name: '€'.repeat(21_846) }), OPERATOR, 'name: a string of 65538'],
  ['coordinator state in version 2', withOperator(2, { coordinatorState: inline }), OPERATOR, 'before version 3'],
  ['a finished operator in version 2', withOperator(2, { finished: true }), OPERATOR, 'before version 3'],
  [
    'a finished operator with coordinator state',
    withOperator(6, { finished: true, coordinatorState: inline }),
    OPERATOR,
    'coordinator state of a finished operator',
  ],
  [
    'a finished operator with a subtask',
    withOperator(6, { finished: true, subtasks: [subtask()] }),
    SUBTASK,
    'a subtask of a finished operator',
  ],
  ['a positive finished count', withOperator(6, { finished: true, wire: { subtaskCount: 2 } }), OPERATOR, 'count 2'],
  ['a count of an operator that runs', withOperator(6, { wire: { subtaskCount: -2 } }), OPERATOR, 'count -2'],
  [
    'a chain length in version 3',
    withOperator(3, { wire: { chainLength: 2 } }),
    OPERATOR,
    'a chain length in version 3',
  ],
  ['a subtask beyond the parallelism', withSubtask(6, { index: 2 }), 'operator 0 / subtask 2', 'of parallelism 2'],
  ['a negative subtask index', withSubtask(6, { index: -1 }), 'operator 0 / subtask -1', 'subtask index -1'],
  [
    'a finished subtask in version 2',
    withOperator(2, { subtasks: [{ index: 0, finished: true }] }),
    SUBTASK,
    'a finished subtask before version 3',
  ],
  ['a duration in version 6', withSubtask(6, { wire: { duration: 1n } }), SUBTASK, 'a duration in version 6'],
  ['channel state in version 2', withSubtask(2, { inputChannelState: [channel] }), SUBTASK, 'before version 3'],
  [
    'a presence number of nothing',
    withSubtask(6, { wire: { managedOperatorStatePresence: 2 } }),
    SUBTASK,
    'a presence number without operator state',
  ],
  [
    'the presence number 0 of something',
    withSubtask(6, { rawOperatorState: merged, wire: { rawOperatorStatePresence: 0 } }),
    SUBTASK,
    'the presence number 0 with operator state',
  ],
  ['a file size of -2', withStream({ ...file, stateSize: -2n }), SUBTASK, 'file size -2'],
  ['a file size of 2^63', withStream({ ...file, stateSize: 2n ** 63n }), SUBTASK, 'no 64-bit integer'],
  ['an empty path', withStream({ ...file, filePath: '' }), SUBTASK, 'filePath is empty'],
  [
    'an empty relative path',
    withStream({ type: 'RelativeFileStateHandle', relativePath: '', stateSize: 0n }),
    SUBTASK,
    'relativePath is empty',
  ],
  ['a long path', withStream({ ...file, filePath: TOO_LONG }), SUBTASK, 'filePath: a string of 65536'],
  [
    'raw bytes of another text',
    withStream({ ...file, wire: { utf: { filePath: hex('c181') } } }),
    SUBTASK,
    'the raw bytes of filePath are not those of its text',
  ],
  [
    'raw bytes of no text',
    withStream({ ...inline, wire: { utf: { handleName: hex('ff') } } }),
    SUBTASK,
    'handleName: expected modified UTF-8',
  ],
  [
    'an id of key groups in the place of a stream',
    withStream(keyGroups as StreamStateHandle),
    SUBTASK,
    'store no state handle id',
  ],
  [
    'fewer offsets than key groups',
    withKeyed({ ...keyGroups, keyGroupOffsets: numbers(1) } as KeyedStateHandle),
    SUBTASK,
    '1 key-group offsets for 2 key groups',
  ],
  [
    'key groups from -1 on',
    withKeyed({ ...incremental, keyGroupRange: { startKeyGroup: -1, numberOfKeyGroups: 2 } } as KeyedStateHandle),
    SUBTASK,
    'key-group range of 2 from -1 on',
  ],
  [
    'key groups beyond the last',
    withKeyed({
      ...incremental,
      keyGroupRange: { startKeyGroup: 0x7fffffff, numberOfKeyGroups: 2 },
    } as KeyedStateHandle),
    SUBTASK,
    'key-group range of 2 from 2147483647 on',
  ],
  [
    'an incremental handle with an id and without checkpointed size',
    withKeyed({ ...incremental, checkpointedSize: null } as KeyedStateHandle),
    SUBTASK,
    'stored together or not at all',
  ],
  [
    'an incremental handle with a checkpointed size and without id',
    withKeyed({ ...incremental, stateHandleId: null } as KeyedStateHandle),
    SUBTASK,
    'stored together or not at all',
  ],
  [
    'a changelog without key groups',
    withKeyed({ ...changelog, keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 0 } }),
    SUBTASK,
    'a changelog handle without key groups',
  ],
  [
    'a changelog with a checkpoint id alone',
    withKeyed({ ...changelog, checkpointedSize: null, materializationID: null, stateHandleId: null }),
    SUBTASK,
    'do not go together',
  ],
  ['a changelog without an id', withKeyed({ ...changelog, stateHandleId: null }), SUBTASK, 'do not go together'],
  [
    'a changelog of 1.14 in the current layout',
    withKeyed(
      { ...changelog, checkpointedSize: null, materializationID: null, checkpointId: null, stateHandleId: null },
      3,
    ),
    SUBTASK,
    'that the layout current has not',
  ],
  [
    'a changelog of 1.15 in the layout of 1.14',
    withKeyed({ ...changelog, checkpointId: null }, 3, '1.14'),
    SUBTASK,
    'that the layout 1.14 has not',
  ],
  ['changes with an id in the layout of 1.14', withKeyed(changes, 3, '1.14'), SUBTASK, 'the layout 1.14 has not'],
  [
    'changes without an id in the current layout',
    withKeyed({ ...changes, stateHandleId: null }),
    SUBTASK,
    'the layout current has not',
  ],
  [
    'changes of key group -2',
    withKeyed({ ...changes, changes: [{ keyGroup: -2, change: hex('') }] }),
    SUBTASK,
    'of key group -2',
  ],
  ['changes from -1 on', withKeyed({ ...changes, from: -1n }), SUBTASK, 'the sequence number from -1'],
  ['changes up to -1', withKeyed({ ...changes, to: -1n }), SUBTASK, 'the sequence number to -1'],
  [
    'changelog files with a storage alone',
    withKeyed({ ...changelogFiles, checkpointedSize: null, stateHandleId: null }),
    SUBTASK,
    'do not go together',
  ],
  [
    'changelog files of 1.15 in the layout of 1.14',
    withKeyed({ ...changelogFiles, storageIdentifier: null }, 3, '1.14'),
    SUBTASK,
    'the layout 1.14 has not',
  ],
  [
    'an odd byte in merged state that is not empty',
    withSubtask(6, { managedOperatorState: { ...merged, wire: { isEmpty: 7 } } }),
    SUBTASK,
    'isEmpty 7 contradicts',
  ],
  ...[0, 256, -1].map(
    (isEmpty) =>
      [
        `the byte ${isEmpty} in empty merged state`,
        withSubtask(6, {
          managedOperatorState: { ...merged, type: 'EmptyFileMergingOperatorStreamStateHandle', wire: { isEmpty } },
        }),
        SUBTASK,
        `isEmpty ${isEmpty} contradicts`,
      ] as const,
  ),
  [
    'merged state without a directory',
    withSubtask(6, { managedOperatorState: { ...merged, sharedDirectory: '' } as OperatorStateHandle }),
    SUBTASK,
    'sharedDirectory is empty',
  ],
  [
    'a merged channel handle in version 5',
    withSubtask(5, { inputChannelState: [mergedChannel] }),
    SUBTASK,
    'a MergedInputChannelStateHandle before version 6',
  ],
  [
    'an input among the output',
    withSubtask(6, { resultSubpartitionState: [channel] }),
    SUBTASK,
    'a InputChannelStateHandle among the output channel state',
  ],
  [
    'a merged input among the output',
    withSubtask(6, { resultSubpartitionState: [mergedChannel] }),
    SUBTASK,
    'among the output channel state',
  ],
  [
    'a channel handle without subtask index in the current layout',
    withSubtask(3, { inputChannelState: [{ ...channel, subtaskIndex: null } as AnyChannelStateHandle] }),
    SUBTASK,
    'the layout current has not',
  ],
  [
    'a channel handle with subtask index in the layout of 1.11',
    { ...withSubtask(3, { inputChannelState: [channel] }), layout: '1.11' },
    SUBTASK,
    'the layout 1.11 has not',
  ],
];

describe('what no file can hold is refused', () => {
  it.each(refused)('%s', (_what, model, record, reason) => {
    try {
      writeMetadata(model);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(UnwritableMetadataError);
      const { data, message, category } = error as UnwritableMetadataError;
      expect(data.record).toBe(record);
      expect(data.reason).toContain(reason);
      expect(message).toBe(`${data.record}: cannot be written: ${data.reason}`);
      expect(category).toBe('refused');
    }
  });

  it('before a byte of the record is written', () => {
    const encoder = new MetadataEncoder();
    encoder.header(metadata(6));
    encoder.masterStates([]);
    encoder.operators(undefined);
    const before = encoder.out.position;
    expect(() => encoder.beginOperator(operator({ name: TOO_LONG }))).toThrow(UnwritableMetadataError);
    expect(encoder.out.position).toBe(before);
  });
});

describe('the counterparts that a file can hold', () => {
  it.each([
    ['the longest text', withOperator(6, { name: 'a'.repeat(0xffff), uid: '€'.repeat(21_845) })],
    [
      'all keyed handles',
      withKeyed({
        ...changelog,
        materializedStateHandles: [keyGroups, incremental],
        nonMaterializedStateHandles: [changes, changelogFiles],
      }),
    ],
    ['channel handles', withSubtask(6, { inputChannelState: [channel, mergedChannel] })],
    ['merged state', withSubtask(6, { managedOperatorState: merged })],
    ['a finished operator', withOperator(3, { finished: true, wire: { subtaskCount: -9 } })],
    ['a chain length', withOperator(2, { wire: { chainLength: 0 } })],
  ])('%s', (_what, model) => {
    expect(parseMetadata(writeMetadata(model))).toEqual(model);
  });

  it.each([2, 3, 4, 5, 6])('nothing at all in version %i', (version) => {
    expectSameBytes(writeMetadata(metadata(version)), metadataFile(version));
  });
});

describe('counts that are left open', () => {
  it('are filled in at the end, also behind bytes that have been taken out', () => {
    const model = metadata(6, {
      operatorStates: [
        operator({ subtasks: [subtask(), subtask({ index: 1, managedKeyedState: keyGroups })] }),
        operator({ operatorId: 'f'.repeat(32), finished: true }),
      ],
    });
    const encoder = new MetadataEncoder();
    const pieces: Uint8Array[] = [];
    const take = (): void => {
      pieces.push(encoder.out.drain());
    };
    encoder.header(model);
    encoder.masterStates(model.masterStates);
    encoder.operators(undefined);
    take();
    for (const state of model.operatorStates) {
      encoder.beginOperator(state);
      take();
      for (const entry of state.subtasks) {
        encoder.subtask(entry);
        take();
      }
      encoder.endOperator();
    }
    encoder.operatorsEnd();
    encoder.properties(model.propertiesBlock);
    encoder.trailing(hex('0102'));
    take();
    const bytes = Buffer.concat(pieces);
    for (const patch of encoder.out.patches) bytes.set(patch.bytes, patch.position);
    expectSameBytes(bytes, writeMetadata({ ...model, trailingBytes: hex('0102') }));
  });
});
