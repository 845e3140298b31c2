import { describe, expect, it } from 'vitest';
import { hex, join } from '../../../support/byte-builder.js';
import {
  BACKEND,
  changelogBytes,
  changelogFilesOf115,
  changelogFilesV2,
  changelogOf115,
  changelogV2,
  channel,
  channelBlob,
  emptySegment,
  file,
  incremental,
  incrementalV2,
  inline,
  keyGroups,
  keyGroupsV2,
  localFile,
  mergedChannel,
  mergedOperatorHandle,
  metadataFile,
  nothing,
  operator,
  operatorHandle,
  present,
  range,
  relative,
  savepointKeyGroups,
  segment,
  state,
  subtask,
} from '../../../support/metadata-builder.js';
import { DIRECTORY, expectFullCycle, type Json } from '../../../support/metadata-cycle.js';

const VERSIONS = [2, 3, 4, 5, 6];

/** What dump shows of a subtask in a file of one subtask, after the full cycle of its bytes. */
async function shown(version: number, parts: Parameters<typeof subtask>[1]): Promise<Json> {
  const bytes = metadataFile(version, { operators: [operator(version, { subtasks: [subtask(version, parts)] })] });
  const { document } = await expectFullCycle(bytes);
  return document.operatorStates[0].subtasks[0];
}

async function shownKeyed(version: number, handle: Uint8Array): Promise<Json> {
  const managed = await shown(version, { managedKeyed: handle });
  const raw = await shown(version, { rawKeyed: handle });
  expect(raw.rawKeyedState).toEqual(managed.managedKeyedState);
  expect(raw.stateSize).toBe(managed.stateSize);
  expect(raw.managedKeyedState).toEqual([]);
  expect(managed.managedKeyedState.length).toBe(1);
  return managed.managedKeyedState[0];
}

const someFile = file('file:/x/f', 12);
const shownFile = { type: 'FileStateHandle', filePath: 'file:/x/f', stateSize: 12, physicalId: 'file:/x/f' };

/** Every stream handle that can stand anywhere, and what is shown of it. */
const streams: readonly (readonly [what: string, bytes: Uint8Array, document: Json])[] = [
  ['a file', someFile, shownFile],
  [
    'a file of unknown size',
    file('s3://b/k', -1),
    { type: 'FileStateHandle', filePath: 's3://b/k', stateSize: -1, physicalId: 's3://b/k' },
  ],
  [
    'a relative file',
    relative('part-1', 3),
    {
      type: 'RelativeFileStateHandle',
      relativePath: 'part-1',
      filePath: `${DIRECTORY}/part-1`,
      stateSize: 3,
      physicalId: `${DIRECTORY}/part-1`,
    },
  ],
  [
    'inline bytes',
    inline('file:/x/not-a-file', hex('00ff10')),
    {
      type: 'ByteStreamStateHandle',
      handleName: 'file:/x/not-a-file',
      bytes: 'AP8Q',
      stateSize: 3,
      physicalId: 'file:/x/not-a-file',
    },
  ],
  [
    'no inline bytes',
    inline('', hex('')),
    { type: 'ByteStreamStateHandle', handleName: '', bytes: '', stateSize: 0, physicalId: '' },
  ],
  [
    'a segment',
    segment('hdfs://h:1/m', 5, 6, 1, 'id-1'),
    {
      type: 'SegmentFileStateHandle',
      filePath: 'hdfs://h:1/m',
      startPos: 5,
      stateSize: 6,
      scope: 'SHARED',
      logicalFileId: 'id-1',
      physicalId: 'id-1',
    },
  ],
  ['an empty segment', emptySegment, { type: 'EmptySegmentFileStateHandle', stateSize: 0, physicalId: 'DUMMY' }],
  [
    'key groups (type 3)',
    keyGroups(3, [0, -1], someFile),
    {
      type: 'KeyGroupsStateHandle',
      keyGroupRange: { start: 3, end: 4 },
      keyGroupOffsets: [0, -1],
      stateSize: 12,
      checkpointedSize: 12,
      stateHandleId: null,
      delegateStateHandle: shownFile,
    },
  ],
  [
    'key groups inside key groups',
    keyGroups(3, [7], keyGroups(0, [1, 2], inline('n', hex('aa')))),
    {
      type: 'KeyGroupsStateHandle',
      keyGroupRange: { start: 3, end: 3 },
      keyGroupOffsets: [7],
      stateSize: 1,
      checkpointedSize: 1,
      stateHandleId: null,
      delegateStateHandle: {
        type: 'KeyGroupsStateHandle',
        keyGroupRange: { start: 0, end: 1 },
        keyGroupOffsets: [1, 2],
        stateSize: 1,
        checkpointedSize: 1,
        stateHandleId: null,
        delegateStateHandle: {
          type: 'ByteStreamStateHandle',
          handleName: 'n',
          bytes: 'qg==',
          stateSize: 1,
          physicalId: 'n',
        },
      },
    },
  ],
];

describe.each(VERSIONS)('stream handles in version %i', (version) => {
  it.each(streams)('%s where a stream handle can stand', async (_what, bytes, document) => {
    const own = { type: 'OperatorStreamStateHandle', stateSize: document.stateSize };
    const managed = await shown(version, { managedOperator: present(operatorHandle([], bytes)) });
    expect(managed.managedOperatorState).toEqual([
      { ...own, stateNameToPartitionOffsets: {}, delegateStateHandle: document },
    ]);
    const raw = await shown(version, { rawOperator: present(operatorHandle([state('s', 2, [0])], bytes)) });
    expect(raw.rawOperatorState).toEqual([
      {
        ...own,
        stateNameToPartitionOffsets: { s: { distributionMode: 'BROADCAST', offsets: [0] } },
        delegateStateHandle: document,
      },
    ]);

    const keyed = await shownKeyed(version, keyGroupsV2(0, [4], bytes, 'id'));
    expect(keyed.delegateStateHandle).toEqual(document);
    const incremental = await shownKeyed(
      version,
      incrementalV2({ meta: bytes, shared: [localFile('1.sst', bytes)], private: [localFile('CURRENT', bytes)] }),
    );
    expect(incremental.metaStateHandle).toEqual(document);
    expect(incremental.sharedState).toEqual([{ localPath: '1.sst', handle: document }]);
    expect(incremental.privateState).toEqual([{ localPath: 'CURRENT', handle: document }]);
    expect(incremental.stateSize).toBe(3 * document.stateSize);
    const files = await shownKeyed(version, changelogFilesV2({ files: [[8, bytes]] }));
    expect(files.handlesAndOffsets).toEqual([{ offset: 8, handle: document }]);

    if (version < 3) return;
    const plain = channel(1, [2, 3], [4, 5], 9, bytes);
    const type = version >= 6;
    const inputs = [type ? join(hex('01'), plain) : plain];
    const outputs = [type ? join(hex('02'), plain) : plain];
    const channels = await shown(version, { inputs, outputs });
    expect(channels.inputChannelState[0].delegate).toEqual(document);
    expect(channels.resultSubpartitionState[0].delegate).toEqual(document);
    expect(channels.stateSize).toBe(18);
  });
});

describe.each(VERSIONS)('keyed handles in version %i', (version) => {
  it('key groups without an id (type 3), with one (type 12), of a savepoint (type 7)', async () => {
    const common = { keyGroupRange: { start: 3, end: 5 }, keyGroupOffsets: [10, 0, 20], stateSize: 12 };
    const more = { ...common, checkpointedSize: 12, delegateStateHandle: shownFile };
    expect(await shownKeyed(version, keyGroups(3, [10, 0, 20], someFile))).toEqual({
      type: 'KeyGroupsStateHandle',
      ...more,
      stateHandleId: null,
    });
    expect(await shownKeyed(version, keyGroupsV2(3, [10, 0, 20], someFile, 'the-id'))).toEqual({
      type: 'KeyGroupsStateHandle',
      ...more,
      stateHandleId: 'the-id',
    });
    expect(await shownKeyed(version, savepointKeyGroups(3, [10, 0, 20], someFile))).toEqual({
      type: 'KeyGroupsSavepointStateHandle',
      ...more,
      stateHandleId: null,
    });
  });

  it('incremental without a checkpointed size (type 5)', async () => {
    const handle = incremental({
      shared: [localFile('1.sst', someFile)],
      private: [localFile('MANIFEST-1', someFile)],
    });
    expect(await shownKeyed(version, handle)).toMatchObject({
      type: 'IncrementalRemoteKeyedStateHandle',
      checkpointId: 7,
      backendIdentifier: BACKEND,
      keyGroupRange: { start: 0, end: 63 },
      stateSize: 124,
      checkpointedSize: 124,
      stateHandleId: null,
      metaStateHandle: { type: 'RelativeFileStateHandle', relativePath: 'meta', stateSize: 100 },
      sharedState: [{ localPath: '1.sst', handle: shownFile }],
      privateState: [{ localPath: 'MANIFEST-1', handle: shownFile }],
    });
  });

  it('incremental with a checkpointed size (type 11)', async () => {
    expect(await shownKeyed(version, incrementalV2({ checkpointedSize: 50 }))).toMatchObject({
      type: 'IncrementalRemoteKeyedStateHandle',
      stateSize: 100,
      checkpointedSize: 50,
      stateHandleId: 'incremental-id',
      sharedState: [],
      privateState: [],
    });
  });

  it('changelog of 1.15 (type 8), which takes the materialization id for the checkpoint id', async () => {
    const materialized = [keyGroupsV2(0, [1, 2], someFile, 'id'), incrementalV2({ range: range(0, 2) })];
    const nonMaterialized = [changelogBytes({ changes: [[-1, hex('0102')]] }), changelogFilesOf115({ size: 12 })];
    const handle = changelogOf115({ materialized, nonMaterialized, checkpointedSize: 30, materializationId: 3 });
    const document = await shownKeyed(version, handle);
    expect(document).toMatchObject({
      type: 'ChangelogStateBackendHandleImpl',
      checkpointId: 3,
      materializationID: 3,
      keyGroupRange: { start: 0, end: 1 },
      stateSize: 12 + 100 + 2 + 12,
      checkpointedSize: 30,
      stateHandleId: 'changelog-id',
      wire: { tag: 8 },
    });
    expect(document.materializedStateHandles.map((part: Json) => part.type)).toEqual([
      'KeyGroupsStateHandle',
      'IncrementalRemoteKeyedStateHandle',
    ]);
    expect(document.nonMaterializedStateHandles.map((part: Json) => part.type)).toEqual([
      'InMemoryChangelogStateHandle',
      'ChangelogStateHandleStreamImpl',
    ]);
  });

  it('changelog since 1.16 (type 14)', async () => {
    const document = await shownKeyed(version, changelogV2({ materializationId: 3, checkpointId: 9 }));
    expect(document).toMatchObject({ checkpointId: 9, materializationID: 3, stateSize: 0, checkpointedSize: 30 });
    expect(document.wire).toBeUndefined();
  });

  it('changes in memory (type 9)', async () => {
    const changes = [
      [-1, hex('')],
      [0, hex('ff')],
      [127, hex('0102')],
    ] as const;
    expect(await shownKeyed(version, changelogBytes({ from: 4, to: 9, changes }))).toEqual({
      type: 'InMemoryChangelogStateHandle',
      keyGroupRange: { start: 0, end: 1 },
      from: 4,
      to: 9,
      stateSize: 3,
      checkpointedSize: 3,
      stateHandleId: 'changes-id',
      storageIdentifier: 'memory',
      changes: [
        { keyGroup: -1, change: '' },
        { keyGroup: 0, change: '/w==' },
        { keyGroup: 127, change: 'AQI=' },
      ],
    });
  });

  it('changes in files of 1.15 (type 10), whose storage is the file system', async () => {
    const files = [
      [0, someFile],
      [100, relative('c', 1)],
      [7, nothing],
    ] as const;
    const document = await shownKeyed(version, changelogFilesOf115({ files, size: 40, checkpointedSize: 20 }));
    expect(document).toMatchObject({
      type: 'ChangelogStateHandleStreamImpl',
      stateSize: 40,
      checkpointedSize: 20,
      stateHandleId: 'files-id',
      storageIdentifier: 'filesystem',
      wire: { tag: 10 },
    });
    expect(document.handlesAndOffsets.map((part: Json) => [part.offset, part.handle?.type ?? null])).toEqual([
      [0, 'FileStateHandle'],
      [100, 'RelativeFileStateHandle'],
      [7, null],
    ]);
  });

  it('changes in files since 1.16 (type 13)', async () => {
    const document = await shownKeyed(version, changelogFilesV2({ files: [[0, someFile]], storage: 'other' }));
    expect(document.storageIdentifier).toBe('other');
    expect(document.wire).toBeUndefined();
    expect((await shownKeyed(version, changelogFilesV2())).storageIdentifier).toBe('filesystem');
  });

  it('a changelog inside a changelog', async () => {
    const inner = changelogV2({ nonMaterialized: [changelogBytes({ changes: [[0, hex('aabb')]] })], id: 'inner' });
    const document = await shownKeyed(version, changelogV2({ materialized: [inner, inner], id: 'outer' }));
    expect(document.stateSize).toBe(4);
    expect(document.materializedStateHandles.map((part: Json) => part.stateHandleId)).toEqual(['inner', 'inner']);
  });
});

describe('channel handles', () => {
  it.each([3, 4, 5])('are plain in version %i', async (version) => {
    const { inputChannelState, resultSubpartitionState, upstreamOutputBufferState } = await shown(version, {
      inputs: [channel(1, [2, 3], [4, 5], 9, someFile), channel(0, [0, 0], [], 0, someFile)],
      outputs: [channel(1, [2, 3], [4, 5], 9, someFile)],
    });
    expect(inputChannelState).toMatchObject([
      {
        type: 'InputChannelStateHandle',
        subtaskIndex: 1,
        info: { gateIdx: 2, inputChannelIdx: 3 },
        offsets: [4, 5],
        stateSize: 9,
      },
      { subtaskIndex: 0, offsets: [], stateSize: 0 },
    ]);
    expect(resultSubpartitionState).toMatchObject([
      { type: 'ResultSubpartitionStateHandle', info: { partitionIdx: 2, subPartitionIdx: 3 } },
    ]);
    expect(upstreamOutputBufferState).toEqual([]);
  });

  it('are plain or merged in version 6', async () => {
    const blob = channelBlob([
      [0, 1, 10, [4, 8]],
      [2, 3, 5, []],
    ]);
    const document = await shown(6, {
      inputs: [mergedChannel(3, 1, 15, someFile, blob), join(hex('01'), channel(1, [2, 3], [4], 9, someFile))],
      outputs: [mergedChannel(4, 1, 15, someFile, blob)],
    });
    expect(document.stateSize).toBe(39);
    expect(document.inputChannelState[0]).toEqual({
      type: 'MergedInputChannelStateHandle',
      subtaskIndex: 1,
      stateSize: 15,
      delegate: shownFile,
      serializedChannelOffsets: Buffer.from(blob).toString('base64'),
      unmergedHandles: [
        {
          type: 'InputChannelStateHandle',
          subtaskIndex: 1,
          info: { gateIdx: 0, inputChannelIdx: 1 },
          offsets: [4, 8],
          stateSize: 10,
          delegate: shownFile,
        },
        {
          type: 'InputChannelStateHandle',
          subtaskIndex: 1,
          info: { gateIdx: 2, inputChannelIdx: 3 },
          offsets: [],
          stateSize: 5,
          delegate: shownFile,
        },
      ],
    });
    expect(document.inputChannelState[1].type).toBe('InputChannelStateHandle');
    expect(document.resultSubpartitionState[0]).toMatchObject({
      type: 'MergedResultSubpartitionStateHandle',
      unmergedHandles: [
        { type: 'ResultSubpartitionStateHandle', info: { partitionIdx: 0, subPartitionIdx: 1 } },
        { info: { partitionIdx: 2, subPartitionIdx: 3 } },
      ],
    });
  });

  it('keep a merged blob that says nothing of channels, and a null delegate', async () => {
    const small = mergedChannel(3, 0, 0, nothing, hex(''));
    // Many of the smallest: each takes 18 bytes, less than any plain handle.
    const document = await shown(6, { inputs: Array.from({ length: 100 }, () => small) });
    expect(document.inputChannelState.length).toBe(100);
    expect(document.inputChannelState[99]).toEqual({
      type: 'MergedInputChannelStateHandle',
      subtaskIndex: 0,
      stateSize: 0,
      delegate: null,
      serializedChannelOffsets: '',
      unmergedHandles: null,
    });
    const odd = await shown(6, { outputs: [mergedChannel(4, 0, 0, someFile, hex('7fffffff00'))] });
    expect(odd.resultSubpartitionState[0].unmergedHandles).toBeNull();
  });
});

describe('operator handles', () => {
  const directories = { taskOwned: 'file:/x/taskowned/tm', shared: 'file:/x/shared/op' };
  const shownDirectory = (directory: string): Json => ({
    type: 'DirectoryStreamStateHandle',
    directory,
    stateSize: 0,
    physicalId: directory,
  });

  it.each(VERSIONS)('keep states of every mode in version %i', async (version) => {
    const states = [state('a', 0, [1, 2, 3]), state('b', 1, []), state('c', 2, [-1])];
    const document = await shown(version, { managedOperator: present(operatorHandle(states, someFile)) });
    expect(document.managedOperatorState).toEqual([
      {
        type: 'OperatorStreamStateHandle',
        stateSize: 12,
        stateNameToPartitionOffsets: {
          a: { distributionMode: 'SPLIT_DISTRIBUTE', offsets: [1, 2, 3] },
          b: { distributionMode: 'UNION', offsets: [] },
          c: { distributionMode: 'BROADCAST', offsets: [-1] },
        },
        delegateStateHandle: shownFile,
      },
    ]);
  });

  it.each(VERSIONS)('name two directories where files are merged, in version %i', async (version) => {
    const whole = mergedOperatorHandle([state('a', 0, [1])], directories, 0, segment('file:/x/m', 0, 5, 0, 'id'));
    const empty = mergedOperatorHandle([], directories, 1, emptySegment);
    const document = await shown(version, { managedOperator: present(whole), rawOperator: present(empty) });
    const common = {
      taskOwnedDirHandle: shownDirectory('file:/x/taskowned/tm'),
      sharedDirHandle: shownDirectory('file:/x/shared/op'),
    };
    expect(document.managedOperatorState).toMatchObject([
      { type: 'FileMergingOperatorStreamStateHandle', stateSize: 5, ...common },
    ]);
    expect(document.rawOperatorState).toMatchObject([
      { type: 'EmptyFileMergingOperatorStreamStateHandle', stateSize: 0, ...common },
    ]);
    expect(document.rawOperatorState[0].wire).toBeUndefined();
  });
});
