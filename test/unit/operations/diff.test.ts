import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileSystems } from '../../../src/filesystem/registry.js';
import type { CheckpointMetadata, OperatorState } from '../../../src/model/checkpoint-metadata.js';
import type { StreamStateHandle } from '../../../src/model/state-handles.js';
import { diffCheckpoints } from '../../../src/operations/diff/diff.js';
import type { DiffResult } from '../../../src/operations/diff/result.js';
import { resolvePointer } from '../../../src/operations/pointer.js';
import {
  checkpointAt,
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
import { tempDirectory } from '../../support/temp.js';

const fileSystems = createFileSystems({ configuration: new Map() });

async function diff(old: string, new_: string): Promise<DiffResult> {
  const [first, second] = [await resolvePointer(fileSystems, old), await resolvePointer(fileSystems, new_)];
  return diffCheckpoints(fileSystems, first, second);
}

/** Compares two metadata files in directories of their own. */
async function diffOf(old: Partial<CheckpointMetadata>, new_: Partial<CheckpointMetadata>): Promise<DiffResult> {
  const root = await tempDirectory();
  return diff(
    await checkpointAt(join(root, 'old'), metadata(old)),
    await checkpointAt(join(root, 'new'), metadata(new_)),
  );
}

const operators = (...operatorStates: readonly OperatorState[]): Partial<CheckpointMetadata> => ({ operatorStates });

function withFiles(...files: readonly StreamStateHandle[]): Partial<CheckpointMetadata> {
  return operators(operator({ subtasks: [subtask({ managedKeyedState: incremental(files) })] }));
}

/** Keyed state of these bytes inside the metadata. */
function keyed(text: string): ReturnType<typeof subtask> {
  return subtask({ managedKeyedState: keyGroups({ ...inline(), bytes: Buffer.from(text) }) });
}

const NO_FILES = { common: 0, added: 0, removed: 0, addedBytes: 0, removedBytes: 0, commonBytes: 0, relocated: 0 };

describe('diff of operators', () => {
  it('is the same for the same, whatever the order in the file, the id and the time', async () => {
    const states = [
      operator({ operatorId: operatorId(1), subtasks: [keyed('a'), subtask({ index: 1 })], parallelism: 2 }),
      operator({ operatorId: operatorId(2), subtasks: [keyed('b')] }),
    ] as const;
    const [first, second] = states;
    const result = await diffOf(
      { ...operators(first, second), checkpointId: 3n },
      { ...operators(second, { ...first, subtasks: [...first.subtasks].reverse() }), checkpointId: 4n },
    );
    expect(result).toMatchObject({ same: true, added: [], removed: [], renumbered: [], changed: [], files: NO_FILES });
    expect(result.operators.map(({ change }) => change)).toEqual(['same', 'same']);
  });

  it('names added and removed ones', async () => {
    const result = await diffOf(
      operators(operator({ operatorId: operatorId(1), subtasks: [keyed('abc')] })),
      operators(operator({ operatorId: operatorId(2), subtasks: [keyed('abcde')] })),
    );
    expect(result).toMatchObject({ same: false, added: [operatorId(2)], removed: [operatorId(1)], renumbered: [] });
    expect(result.operators).toMatchObject([
      { operatorId: operatorId(2), change: 'added', oldStateSize: null, newStateSize: 5, growth: 5 },
      { operatorId: operatorId(1), change: 'removed', oldStateSize: 3, newStateSize: null, growth: -3 },
    ]);
  });

  it.each<[string, Partial<OperatorState>, Partial<OperatorState>]>([
    ['uid', { uid: 'u', name: 'a' }, { uid: 'u', name: 'b' }],
    ['name', { uid: 'u', name: 'same' }, { uid: 'v', name: 'same' }],
    ['states', { subtasks: [keyed('the very same')] }, { subtasks: [keyed('the very same')] }],
    [
      'states',
      { subtasks: [subtask({ managedOperatorState: operatorState(inline(3), 'x', 'y') })] },
      { subtasks: [subtask({ managedOperatorState: operatorState(inline(9), 'y', 'x') })] },
    ],
  ])('pairs by %s', async (by, old, now) => {
    const result = await diffOf(
      operators(operator({ operatorId: operatorId(1), ...old }), operator({ operatorId: operatorId(7) })),
      operators(operator({ operatorId: operatorId(7) }), operator({ operatorId: operatorId(2), ...now })),
    );
    expect(result).toMatchObject({
      same: false,
      added: [],
      removed: [],
      renumbered: [{ old: operatorId(1), new: operatorId(2), by }],
    });
  });

  it('pairs nothing by what several have, or what none has', async () => {
    const twins = (id: number): Partial<CheckpointMetadata> =>
      operators(
        operator({ operatorId: operatorId(id), name: 'Filter' }),
        operator({ operatorId: operatorId(id + 1), name: 'Filter' }),
        operator({ operatorId: operatorId(id + 2) }),
      );
    const result = await diffOf(twins(1), twins(11));
    expect(result.renumbered).toEqual([]);
    expect(result.added).toEqual([11, 12, 13].map(operatorId));
    expect(result.removed).toEqual([1, 2, 3].map(operatorId));
  });

  it('names each changed field with both values', async () => {
    const old = operator({
      parallelism: 2,
      maxParallelism: 128,
      name: 'before',
      coordinatorState: inline(3),
      subtasks: [
        subtask({ managedOperatorState: operatorState(inline(4), 'a'), managedKeyedState: keyGroups(inline(10)) }),
        { ...subtask({ index: 1 }), finished: true },
      ],
    });
    const now = operator({
      parallelism: 4,
      maxParallelism: 256,
      name: 'after',
      coordinatorState: inline(5),
      subtasks: [
        subtask({ managedOperatorState: operatorState(inline(5), 'a', 'b'), managedKeyedState: keyGroups(inline(70)) }),
      ],
    });
    const { changed, renumbered, operators: all } = await diffOf(operators(old), operators(now));
    expect(renumbered).toEqual([]);
    const state = (name: string) => ({ name, kind: 'managed-operator', distributionMode: 'SPLIT_DISTRIBUTE' });
    const change = (field: string, before: unknown, after: unknown) => ({
      operatorId: operatorId(1),
      field,
      old: before,
      new: after,
    });
    expect(changed).toEqual([
      change('name', 'before', 'after'),
      change('parallelism', 2, 4),
      change('maxParallelism', 128, 256),
      change('finishedSubtasks', 1, 0),
      change('states', [state('a')], [state('a'), state('b')]),
      change('stateSize', 17, 80),
      change('keyedStateSize', 10, 70),
      change('operatorStateSize', 4, 5),
      change('coordinatorStateSize', 3, 5),
    ]);
    expect(all).toMatchObject([{ change: 'changed', oldStateSize: 17, newStateSize: 80, growth: 63 }]);
  });

  it('takes names and uids that one version does not store for no change', async () => {
    const { same } = await diffOf(
      { version: 4, ...operators(operator()) },
      { version: 6, ...operators(operator({ name: 'Window', uid: 'w' })) },
    );
    expect(same).toBe(true);
  });

  it('sees other state of the same size: inline bytes, in another subtask, master state, swapped operators', async () => {
    const one = (subtasks: readonly ReturnType<typeof subtask>[]): Partial<CheckpointMetadata> =>
      operators(operator({ parallelism: 2, subtasks: [...subtasks] }));
    const bytes = await diffOf(one([keyed('aaa')]), one([keyed('aab')]));
    expect(bytes).toMatchObject({ same: false, changed: [{ field: 'stateHandles', old: expect.any(String) }] });
    expect(bytes.changed[0]?.old).not.toBe(bytes.changed[0]?.new);
    const moved = await diffOf(one([keyed('a')]), one([{ ...keyed('a'), index: 1 }]));
    expect(moved.changed.map(({ field }) => field)).toEqual(['stateHandles']);
    const a = operator({ operatorId: operatorId(1), subtasks: [keyed('a')] });
    const b = operator({ operatorId: operatorId(2), subtasks: [keyed('b')] });
    const swapped = await diffOf(
      operators(a, b),
      operators({ ...a, operatorId: b.operatorId }, { ...b, operatorId: a.operatorId }),
    );
    expect(swapped.changed.map(({ field }) => field)).toEqual(['stateHandles', 'stateHandles']);
    const master = (text: string): Partial<CheckpointMetadata> => ({
      masterStates: [{ name: 'hook', version: 1, bytes: Buffer.from(text) }],
    });
    expect(await diffOf(master('x'), master('y'))).toMatchObject({
      same: false,
      changed: [{ operatorId: null, field: 'masterStates' }],
    });
    expect((await diffOf(master('x'), master('x'))).same).toBe(true);
  });
});

describe('diff of files', () => {
  it('counts files in common, new and gone, each once, with their bytes', async () => {
    const shared = 's3://bucket/job/shared';
    const { same, files } = await diffOf(
      withFiles(file(`${shared}/a`, 1), file(`${shared}/b`, 20), file(`${shared}/b`, 20), file(`${shared}/c`, 300)),
      withFiles(
        file(`${shared}/b`, 20),
        file(`${shared}/c`, 300),
        file(`${shared}/d`, 4000),
        file(`${shared}/d`, 4000),
      ),
    );
    expect(same).toBe(false);
    expect(files).toEqual({
      common: 2,
      added: 1,
      removed: 1,
      addedBytes: 4000,
      removedBytes: 1,
      commonBytes: 320,
      relocated: 0,
    });
  });

  it('takes one path for one file whatever size it is said to have, and an unknown size for none', async () => {
    const { files } = await diffOf(
      withFiles(file('s3://b/x', 1), file('s3://b/y', -1)),
      withFiles(file('s3://b/x', 2), file('s3://b/z', -1)),
    );
    expect(files).toMatchObject({ common: 1, added: 1, removed: 1, addedBytes: 0, removedBytes: 0 });
  });

  it('compares by what names lead to: spellings of a scheme, links', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, 'shared'));
    await writeFile(join(root, 'shared', 'a'), 'x');
    await symlink('shared', join(root, 'link'));
    await symlink('a', join(root, 'shared', 'b'));
    const names = [`file:${root}/shared/a`, `file:${root}/link/a`, `file://${root}/shared/b`];
    for (const name of names) {
      const { files } = await diffOf(withFiles(file(names[0] ?? '')), withFiles(file(name)));
      expect(files).toMatchObject({ common: 1, added: 0, removed: 0 });
    }
    const { files } = await diffOf(withFiles(file('s3://b/x')), withFiles(file('s3a://b/x')));
    expect(files).toMatchObject({ common: 1, added: 0, removed: 0 });
  });

  it('counts the segments of a merged file, and the file once', async () => {
    const segment = (filePath: string, startPos: number): StreamStateHandle => ({
      type: 'SegmentFileStateHandle',
      filePath,
      startPos: BigInt(startPos),
      stateSize: 10n,
      scope: 'SHARED',
      logicalFileId: `${startPos}`,
    });
    const { files } = await diffOf(
      withFiles(segment('s3://b/m', 0), segment('s3://b/m', 10)),
      withFiles(segment('s3://b/m', 10), segment('s3://b/n', 0), segment('s3://b/n', 10), segment('s3://b/n', 10)),
    );
    expect(files).toMatchObject({ common: 1, added: 1, removed: 0, addedBytes: 20, commonBytes: 10 });
  });

  it('knows a copy of a checkpoint at another place: other files, the same state', async () => {
    const parts = withFiles(relativeFile('a', 100), relativeFile('b', 200));
    expect(await diffOf(parts, parts)).toMatchObject({
      same: true,
      changed: [],
      files: { common: 0, added: 2, removed: 2, addedBytes: 300, removedBytes: 300, relocated: 2 },
    });
    // Of another checkpoint equal names mean nothing.
    expect(await diffOf(parts, { ...parts, checkpointId: 2n })).toMatchObject({ same: false, files: { relocated: 0 } });
    const shorter = withFiles(relativeFile('a', 100), relativeFile('b', 199));
    expect(await diffOf(parts, shorter)).toMatchObject({ same: false, files: { relocated: 1 } });
  });

  it('fails where metadata is damaged', async () => {
    const root = await tempDirectory();
    const whole = await checkpointAt(join(root, 'whole'));
    const cut = await checkpointAt(join(root, 'cut'), metadata(withFiles(file('s3://b/x'))).subarray(0, 100));
    await expect(diff(whole, cut)).rejects.toMatchObject({ code: 'CORRUPT_METADATA' });
    await expect(diff(cut, whole)).rejects.toMatchObject({ code: 'CORRUPT_METADATA' });
  });
});
