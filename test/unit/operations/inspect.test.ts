import { describe, expect, it } from 'vitest';
import { Path } from '../../../src/filesystem/path.js';
import { writeCheckpointProperties } from '../../../src/format/java/properties.js';
import type { CheckpointMetadata, OperatorSubtaskState } from '../../../src/model/checkpoint-metadata.js';
import { forCheckpoint, forSavepoint } from '../../../src/model/checkpoint-properties.js';
import type { KeyedStateHandle, StreamStateHandle } from '../../../src/model/state-handles.js';
import { type InspectInput, inspectMetadata } from '../../../src/operations/inspect.js';
import { inspectOperator } from '../../../src/operations/inspect-operator.js';
import type { InspectedOperator, InspectResult } from '../../../src/operations/inspect-result.js';
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

const JOB = '0123456789abcdef0123456789abcdef';
const OWN = `s3://b/root/${JOB}/chk-7`;

function input(more: Partial<CheckpointMetadata>, directory = OWN): InspectInput {
  const own = Path.parse(directory);
  return {
    source: sourceOf(metadata(more)),
    directory: own,
    metadataPath: own.child('_metadata'),
    modificationTime: Date.parse('2026-11-30T12:00:00.123Z'),
  };
}

const inspect = (more: Partial<CheckpointMetadata>, directory?: string): Promise<InspectResult> =>
  inspectMetadata(input(more, directory));

/** A checkpoint of one operator whose subtasks have these keyed states. */
function withKeyed(...states: readonly KeyedStateHandle[]): Partial<CheckpointMetadata> {
  const subtasks = states.map((managedKeyedState, index) => subtask({ index, managedKeyedState }));
  return { operatorStates: [operator({ parallelism: Math.max(1, states.length), subtasks })] };
}

async function onlyOperator(more: Partial<CheckpointMetadata>): Promise<InspectedOperator> {
  const [first, second] = (await inspect(more)).operatorStates;
  if (!first || second) throw new Error('expected one operator');
  return first;
}

it('tells place, time and version', async () => {
  expect(await inspect({ checkpointId: 7n })).toMatchObject({
    pointer: OWN,
    metadataPath: `${OWN}/_metadata`,
    time: '2026-11-30T12:00:00.123Z',
    jobId: JOB,
    version: 6,
    flinkVersions: '2.1 – 2.3',
    checkpointId: 7,
    relocatable: 'inline',
    files: 0,
    trailingBytes: 0,
    operatorStates: [],
  });
  expect(await inspect({}, 'file:/savepoints/savepoint-012345-0123456789ab')).toMatchObject({ jobId: null });
});

describe('kind', () => {
  const properties = (isSavepoint: boolean): Uint8Array =>
    writeCheckpointProperties(
      isSavepoint ? forSavepoint({ forced: false, formatType: 'NATIVE' }) : forCheckpoint('RETAIN_ON_CANCELLATION'),
    );
  const canonical = {
    type: 'KeyGroupsSavepointStateHandle',
    keyGroupRange: { startKeyGroup: 0, numberOfKeyGroups: 1 },
    keyGroupOffsets: BigInt64Array.of(0n),
    delegateStateHandle: relativeFile('a'),
  } as const;

  it.each([
    ['properties of a checkpoint', { propertiesBlock: properties(false) }, 'checkpoint', null],
    ['properties of a savepoint', { propertiesBlock: properties(true) }, 'savepoint', 'NATIVE'],
    ['no properties', {}, 'unknown', null],
    ['an old version', { version: 3 }, 'unknown', null],
    ['an old version with a canonical handle', { version: 3, ...withKeyed(canonical) }, 'savepoint', 'CANONICAL'],
  ] as const)('by %s', async (_, more, kind, formatType) => {
    expect(await inspect(more)).toMatchObject({ kind, formatType });
  });

  it('a savepoint is not incremental, whatever its handles look like', async () => {
    const shared = withKeyed(incremental([file(`${OWN}/a`)]));
    expect(await inspect(shared)).toMatchObject({ incremental: true });
    expect(await inspect({ ...shared, propertiesBlock: properties(true) })).toMatchObject({ incremental: false });
    // A native savepoint of a version without properties has exclusive files in the list of shared ones.
    expect(await inspect({ version: 3, ...withKeyed(incremental([relativeFile('a')])) })).toMatchObject({
      incremental: false,
      kind: 'unknown',
    });
  });
});

describe('relocatable and directories', () => {
  const placed = (...handles: readonly StreamStateHandle[]) => withKeyed(...handles.map((handle) => keyGroups(handle)));

  it.each<[string, readonly StreamStateHandle[], string]>([
    ['nothing but bytes', [inline()], 'inline'],
    ['relative files', [relativeFile('a'), relativeFile('below/b'), inline()], 'relative'],
    ['absolute files inside', [file(`${OWN}/a`), relativeFile('b')], 'absolute-inside'],
    ['absolute files below', [file(`${OWN}/below/a`)], 'absolute-inside'],
    ['files beside it', [file(`${OWN}/../shared/a`)], 'foreign'],
    ['relative files that lead out', [relativeFile('../x/a')], 'foreign'],
    ['a directory with a longer name', [file(`${OWN}0/a`)], 'foreign'],
    ['another scheme', [file(`${OWN.replace('s3:', 's3a:')}/a`)], 'foreign'],
  ])('%s', async (_, handles, relocatable) => {
    expect(await inspect(placed(...handles))).toMatchObject({ relocatable });
  });

  it('counts each file once, and sizes that are not recorded as nothing', async () => {
    const shared = `s3://b/root/${JOB}/shared`;
    const handles = [file(`${shared}/a`, 10), file(`${shared}/a`, 10), file(`${shared}/b`, -1), relativeFile('c', 5)];
    expect(await inspect(placed(...handles))).toMatchObject({
      files: 3,
      fileBytes: 15,
      directories: [
        { uri: OWN, role: 'exclusive', files: 1, bytes: 5 },
        { uri: shared, role: 'shared', files: 2, bytes: 10 },
      ],
      operatorStates: [{ files: 3 }],
    });
  });

  it('of merged files counts the segments that are named', async () => {
    const segment = (startPos: bigint): StreamStateHandle => ({
      type: 'SegmentFileStateHandle',
      filePath: `s3://b/root/${JOB}/taskowned/job_x/merged`,
      startPos,
      stateSize: 10n,
      scope: 'EXCLUSIVE',
      logicalFileId: '00000000-0000-0000-0000-000000000001',
    });
    expect(await inspect(placed(segment(0n), segment(10n), segment(10n)))).toMatchObject({
      fileMerging: true,
      files: 1,
      fileBytes: 20,
      directories: [{ role: 'taskowned', files: 1, bytes: 20 }],
    });
  });

  it('at a root', async () => {
    expect(await inspect(placed(relativeFile('a'), file('file:/b')), 'file:/')).toMatchObject({
      relocatable: 'absolute-inside',
      directories: [{ uri: 'file:/', role: 'exclusive', files: 2 }],
    });
  });
});

describe('an operator', () => {
  const state = (more: Partial<OperatorSubtaskState>) => ({
    operatorStates: [operator({ subtasks: [subtask(more)] })],
  });

  it.each<[string, Partial<CheckpointMetadata>, string | null]>([
    ['nothing keyed', state({ managedOperatorState: operatorState(inline(), 'a') }), null],
    ['raw keyed state', state({ rawKeyedState: keyGroups(inline()) }), null],
    ['key groups', withKeyed(keyGroups(inline())), 'hashmap'],
    [
      'key groups of a version that may have them from either',
      { version: 3, ...withKeyed(keyGroups(inline())) },
      'unknown',
    ],
    ['incremental state', withKeyed(incremental([file('file:/a')])), 'rocksdb'],
  ])('has the backend that its handles prove: %s', async (_, more, backend) => {
    expect((await onlyOperator(more)).backend).toBe(backend);
  });

  it.each<[string, Partial<CheckpointMetadata>, boolean]>([
    ['no subtasks', { operatorStates: [operator()] }, false],
    ['subtasks without state', state({}), false],
    ['a finished subtask', { operatorStates: [operator({ subtasks: [{ index: 0, finished: true }] })] }, false],
    ['coordinator state', { operatorStates: [operator({ coordinatorState: inline(0) })] }, true],
    ['an empty operator state', state({ managedOperatorState: operatorState(inline(0)) }), true],
    ['keyed state', withKeyed(keyGroups(inline(0))), true],
  ])('has state as Flink counts it: %s', async (_, more, hasState) => {
    expect((await onlyOperator(more)).hasState).toBe(hasState);
  });

  it('tells its biggest and smallest running subtask, the first of equals', async () => {
    const sizes = [20, 50, 20, 50].map((size, index) => subtask({ index, managedKeyedState: keyGroups(inline(size)) }));
    const subtasks = [...sizes, { index: 4, finished: true as const }];
    expect(await onlyOperator({ operatorStates: [operator({ parallelism: 5, subtasks })] })).toMatchObject({
      subtasks: 5,
      finishedSubtasks: 1,
      largestSubtask: { index: 1, bytes: 50 },
      smallestSubtask: { index: 0, bytes: 20 },
      stateSize: 140,
    });
    expect(await onlyOperator({ operatorStates: [operator()] })).toMatchObject({
      largestSubtask: null,
      smallestSubtask: null,
    });
  });

  it('of which a subtask occurs twice has the last one, as Flink has', async () => {
    const subtasks = [100, 7].map((size) => subtask({ managedKeyedState: keyGroups(inline(size)) }));
    const more = { operatorStates: [operator({ parallelism: 2, subtasks })] };
    expect(await onlyOperator(more)).toMatchObject({ subtasks: 1, stateSize: 7 });
    const given = input(more);
    const detail = await inspectOperator(given, await inspectMetadata(given), operatorId(1));
    expect(detail.subtasks).toMatchObject([{ index: 0, stateSize: 7 }]);
  });

  it('sums sizes as Java does, beyond 2^53 and around 2^63', async () => {
    const huge = 2 ** 62;
    const more = withKeyed(keyGroups(file('file:/a', huge)), keyGroups(file('file:/b', huge)));
    expect(await inspect(more)).toMatchObject({ stateSize: (-(2n ** 63n)).toString() });
  });

  it('names its operator states once, in order', async () => {
    const both = subtask({
      managedOperatorState: operatorState(inline(), 'b', 'a', 'a'),
      rawOperatorState: operatorState(inline(), 'a'),
    });
    const subtasks = [both, { ...both, index: 1, rawOperatorState: null }];
    const given = input({ operatorStates: [operator({ parallelism: 2, subtasks })] });
    const { namedStates } = await inspectOperator(given, await inspectMetadata(given), operatorId(1).slice(0, 4));
    expect(namedStates.map(({ name, kind, partitions, subtasks: count }) => [name, kind, partitions, count])).toEqual([
      ['a', 'managed-operator', 2, 2],
      ['a', 'raw-operator', 1, 1],
      ['b', 'managed-operator', 2, 2],
    ]);
  });
});

it('stops on request', async () => {
  const reason = new Error('stop');
  const given = input({ operatorStates: [operator()] });
  const source: InspectInput['source'] = {
    size: given.source.size,
    async readInto(target, offset, start, end, signal) {
      signal?.throwIfAborted();
      await given.source.readInto(target, offset, start, end);
    },
  };
  await expect(inspectMetadata({ ...given, source }, AbortSignal.abort(reason))).rejects.toBe(reason);
});
