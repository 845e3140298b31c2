import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/filesystem/path.js';
import type { OperatorSubtaskState, SubtaskEntry } from '../../../src/model/checkpoint-metadata.js';
import type { KeyGroupRange, StreamStateHandle } from '../../../src/model/state-handles.js';
import { inspectMetadata } from '../../../src/operations/inspect.js';
import { inspectOperator } from '../../../src/operations/inspect-operator.js';
import { renderInspect } from '../../../src/report/inspect.js';
import { plainStyle } from '../../../src/report/style.js';
import {
  file,
  incremental,
  inline,
  keyGroups,
  metadata,
  operator,
  operatorId,
  operatorState,
  relativeFile,
  subtask,
} from '../../support/made-metadata.js';
import { sourceOf } from '../../support/metadata-cycle.js';

const OWN = Path.parse('s3://b/chk-7');
const range: KeyGroupRange = { startKeyGroup: 0, numberOfKeyGroups: 128 };
const id = '00000000-0000-0000-0000-000000000009';
const segment: StreamStateHandle = {
  type: 'SegmentFileStateHandle',
  filePath: 's3://b/taskowned/merged',
  startPos: 100n,
  stateSize: 10n,
  scope: 'SHARED',
  logicalFileId: id,
};

/** What is shown of an operator with these subtasks. */
async function shown(subtasks: readonly SubtaskEntry[], more: Parameters<typeof operator>[0] = {}): Promise<string> {
  const bytes = metadata({
    operatorStates: [operator({ parallelism: Math.max(1, subtasks.length), subtasks, ...more })],
  });
  const input = { source: sourceOf(bytes), directory: OWN, metadataPath: OWN.child('_metadata'), modificationTime: 0 };
  const inspected = await inspectMetadata(input);
  const detail = await inspectOperator(input, inspected, operatorId(1));
  const view = { style: plainStyle, width: Number.POSITIVE_INFINITY, now: 0, verbose: false };
  return [...renderInspect({ ...inspected, operator: detail }, view)].join('');
}

/** The lines of the handles of the only subtask, blanks squeezed. */
async function handlesOf(state: Partial<OperatorSubtaskState>): Promise<string[]> {
  const text = await shown([subtask(state)]);
  const [, handles = ''] = text.split('Handles of subtask #0\n');
  return handles
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/ {2,}/g, ' | '));
}

describe('the fields', () => {
  it('of an operator with nothing', async () => {
    expect((await shown([])).split('\nOperator\n')[1]).toBe(
      [
        'Uid          not stored in this metadata',
        `Id           ${operatorId(1)}`,
        'Parallelism  1, at most 128',
        'Full size    0 bytes',
        'Added        0 bytes',
        '',
      ].join('\n'),
    );
  });

  it('say what is known of the uid', async () => {
    expect(await shown([], { uid: 'x' })).toContain('Uid          x (the id is not made of it)\n');
    expect(await shown([], { name: 'Map' })).toMatch(
      /Uid +not set: Flink made the id of the position in the job graph/,
    );
  });

  it('say that it has finished', async () => {
    expect(await shown([], { finished: true })).toContain('Finished     yes: all subtasks had finished\n');
    const text = await shown([
      { index: 0, finished: true },
      subtask({ index: 1, managedKeyedState: keyGroups(inline(7)) }),
    ]);
    expect(text).toMatch(/#0 +0 B +0 B +finished: no state\n/);
    expect(text).not.toContain('Subtask sizes');
  });

  it('show the parts of its state', async () => {
    const text = await shown(
      [
        subtask({ managedKeyedState: keyGroups(inline(60)), managedOperatorState: operatorState(inline(30), 'a') }),
        subtask({ index: 1, rawKeyedState: keyGroups(inline(5)) }),
      ],
      { coordinatorState: inline(5) },
    );
    for (const line of [
      'Full size       100 bytes, 100% of the checkpoint',
      'Keyed state     65 bytes, backend hashmap',
      'Operator state  30 bytes',
      'Coordinator     5 bytes',
      'Subtask sizes   from 5 B (#1) to 90 B (#0), the biggest 18.0× the others',
    ])
      expect(text).toContain(`${line}\n`);
  });
});

describe('the handles', () => {
  it('of key groups and files', async () => {
    expect(
      await handlesOf({ managedKeyedState: keyGroups(relativeFile('a', 5)), rawKeyedState: keyGroups(segment, 2) }),
    ).toEqual([
      'keyed: KeyGroupsStateHandle | 5 B | key groups 0–1',
      '· delegate: RelativeFileStateHandle | 5 B | a',
      'raw keyed: KeyGroupsStateHandle | 10 B | key groups 2–3',
      '· delegate: SegmentFileStateHandle | 10 B | s3://b/taskowned/merged from 100 on, shared',
    ]);
  });

  it('of incremental state', async () => {
    expect(await handlesOf({ managedKeyedState: incremental([file('s3://b/shared/x', 3), inline(2)]) })).toEqual([
      'keyed: IncrementalRemoteKeyedStateHandle | 12 B | key groups 0–127, backend id 00000000-0000-0000-0000-0000000000aa',
      '· meta: ByteStreamStateHandle | 7 B | inside the metadata',
      '· shared 000000.sst: FileStateHandle | 3 B | s3://b/shared/x',
      '· shared 000001.sst: ByteStreamStateHandle | 2 B | inside the metadata',
    ]);
  });

  it('of a changelog', async () => {
    const managedKeyedState = {
      type: 'ChangelogStateBackendHandleImpl',
      keyGroupRange: range,
      checkpointedSize: 0n,
      materializedStateHandles: [keyGroups(inline(4)), null],
      nonMaterializedStateHandles: [
        {
          type: 'ChangelogStateHandleStreamImpl',
          keyGroupRange: range,
          handlesAndOffsets: [
            { offset: 12n, handle: file('s3://b/dstl/x', 50) },
            { offset: 0n, handle: null },
          ],
          stateSize: 38n,
          checkpointedSize: 38n,
          stateHandleId: id,
          storageIdentifier: 'filesystem',
        },
        {
          type: 'InMemoryChangelogStateHandle',
          keyGroupRange: { startKeyGroup: 3, numberOfKeyGroups: 0 },
          from: 0n,
          to: 2n,
          changes: [
            { keyGroup: 1, change: new Uint8Array(3) },
            { keyGroup: -1, change: new Uint8Array(4) },
          ],
          stateHandleId: id,
        },
      ],
      materializationID: 1n,
      checkpointId: 1n,
      stateHandleId: id,
    } as const;
    expect(await handlesOf({ managedKeyedState })).toEqual([
      'keyed: ChangelogStateBackendHandleImpl | 49 B | key groups 0–127',
      '· materialized: KeyGroupsStateHandle | 4 B | key groups 0–1',
      '· · delegate: ByteStreamStateHandle | 4 B | inside the metadata',
      '· non-materialized: ChangelogStateHandleStreamImpl | 38 B | key groups 0–127',
      '· · changes from 12 on: FileStateHandle | 50 B | s3://b/dstl/x',
      '· non-materialized: InMemoryChangelogStateHandle | 7 B | 2 changes inside the metadata, key groups none',
    ]);
  });

  it('of operator state, merged or not', async () => {
    const merged = {
      type: 'EmptyFileMergingOperatorStreamStateHandle',
      stateNameToPartitionOffsets: [],
      taskOwnedDirectory: 's3://b/taskowned/t',
      sharedDirectory: 's3://b/shared/s',
      delegateStateHandle: { type: 'EmptySegmentFileStateHandle' },
    } as const;
    expect(
      await handlesOf({ managedOperatorState: operatorState(inline(6), 'a', 'b'), rawOperatorState: merged }),
    ).toEqual([
      'operator: OperatorStreamStateHandle | 6 B | 2 named states',
      '· delegate: ByteStreamStateHandle | 6 B | inside the metadata',
      'raw operator: EmptyFileMergingOperatorStreamStateHandle | 0 B | 0 named states',
      '· delegate: EmptySegmentFileStateHandle | 0 B | no file',
    ]);
  });

  it('of channels', async () => {
    const channel = { subtaskIndex: 0, outerIndex: 1, innerIndex: 2, offsets: BigInt64Array.of(0n), stateSize: 8n };
    expect(
      await handlesOf({
        inputChannelState: [
          { type: 'InputChannelStateHandle', ...channel, delegate: relativeFile('c', 20) },
          {
            type: 'MergedInputChannelStateHandle',
            subtaskIndex: 0,
            stateSize: 4n,
            delegate: null,
            serializedChannelOffsets: new Uint8Array(),
          },
        ],
        resultSubpartitionState: [
          { type: 'ResultSubpartitionStateHandle', ...channel, delegate: relativeFile('c', 20) },
        ],
      }),
    ).toEqual([
      'input channel: InputChannelStateHandle | 8 B | gate 1, channel 2',
      '· delegate: RelativeFileStateHandle | 20 B | c',
      'input channel: MergedInputChannelStateHandle | 4 B | 0 channels',
      'result subpartition: ResultSubpartitionStateHandle | 8 B | partition 1, subpartition 2',
      '· delegate: RelativeFileStateHandle | 20 B | c',
    ]);
  });
});
