import { readdirSync } from 'node:fs';
import { appendFile, chmod, cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { operatorIdOfUid } from '../../src/format/hash/operator-id.js';
import { textWidth } from '../../src/report/wrap.js';
import { copyOfCase } from '../support/case-copy.js';
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
} from '../support/made-metadata.js';
import { makePipe } from '../support/make-pipe.js';
import { binPath, fixturesDirectory } from '../support/paths.js';
import { type RunCkptOptions, runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const isRoot = process.getuid?.() === 0;
const ROCKSDB_JOB = 'a9bb24628cd66d4aa93ef718aab300a1';

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into field by field, and each look is an assertion
type Json = any;

async function inspected(args: readonly string[], options?: RunCkptOptions): Promise<Json> {
  const { stdout, stderr, exitCode } = await runCkpt(['inspect', '--json', ...args], options);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return JSON.parse(stdout);
}

async function textOf(args: readonly string[], options?: RunCkptOptions): Promise<string> {
  const { stdout, stderr, exitCode } = await runCkpt(['inspect', ...args], options);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout;
}

/** The document of the newest checkpoint of a fixture, by the names that Flink gave it. */
async function newestOf(name: string, ...more: string[]): Promise<Json> {
  const { root, map } = await copyOfCase(name);
  return inspected([...map, '--latest', root, ...more]);
}

const made = async (bytes: Uint8Array, name = 'chk-1'): Promise<string> =>
  checkpointAt(join(await tempDirectory(), name), bytes);

describe('the document', () => {
  it('has all that is fixed', async () => {
    const { root, map, original, path } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const pointer = `${original}/${ROCKSDB_JOB}/chk-3`;
    const document = await inspected([...map, path(ROCKSDB_JOB, 'chk-3')]);
    expect(document).toMatchObject({
      pointer,
      metadataPath: `${pointer}/_metadata`,
      metadataSize: 4546,
      jobId: ROCKSDB_JOB,
      version: 6,
      flinkVersions: '2.1 – 2.3',
      checkpointId: 3,
      kind: 'checkpoint',
      formatType: null,
      incremental: true,
      unaligned: false,
      changelog: false,
      fileMerging: false,
      relocatable: 'foreign',
      directories: [
        { uri: pointer, role: 'exclusive', files: 6, bytes: 5672 },
        { uri: `${original}/${ROCKSDB_JOB}/shared`, role: 'shared', files: 18, bytes: 70140 },
      ],
      stateSize: 75836,
      checkpointedSize: 65222,
      inlineBytes: 24,
      fileBytes: 75812,
      files: 24,
      properties: { checkpointType: { name: 'Checkpoint', savepoint: false }, discardSubsumed: true, forced: false },
      masterStates: [],
    });
    expect(document.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(document.operatorStates.map(({ name }: Json) => name)).toContain('Progress tracker');
    const keyed = document.operatorStates.find(({ uid }: Json) => uid === 'orders-keyed');
    expect(keyed).toMatchObject({
      operatorId: operatorIdOfUid('orders-keyed'),
      name: 'Keyed states',
      parallelism: 2,
      maxParallelism: 128,
      finished: false,
      stateSize: 73144,
      checkpointedSize: 62530,
      keyedStateSize: 73144,
      operatorStateSize: 0,
      channelStateSize: 0,
      coordinatorStateSize: 0,
      backend: 'rocksdb',
      files: 20,
      subtasks: 2,
      largestSubtask: { index: 1, bytes: 37190 },
      smallestSubtask: { index: 0, bytes: 35954 },
    });
    expect(await inspected([...map, '--latest', root])).toEqual(document);
    expect(await inspected([...map, '--latest', original])).toEqual(document);
  });

  it.each([
    ['flink-2.3.0/hashmap-inline', { kind: 'checkpoint', relocatable: 'inline', files: 0, directories: [] }],
    [
      'flink-2.3.0/savepoint-canonical-rocksdb',
      { kind: 'savepoint', formatType: 'CANONICAL', relocatable: 'relative' },
    ],
    ['flink-2.3.0/savepoint-native-hashmap', { kind: 'savepoint', formatType: 'NATIVE', relocatable: 'relative' }],
    ['flink-2.3.0/unaligned', { unaligned: true, incremental: false, kind: 'checkpoint', flinkVersions: '2.1 – 2.3' }],
    ['flink-2.3.0/file-merging', { fileMerging: true, incremental: true, relocatable: 'foreign', files: 13 }],
    ['flink-2.3.0/changelog-rocksdb', { changelog: true, incremental: true, relocatable: 'foreign', files: 18 }],
    ['flink-2.0.0/raw-state', { version: 5, flinkVersions: '2.0', kind: 'checkpoint' }],
    ['flink-1.20.5/savepoint-stop', { version: 4, flinkVersions: '1.16 – 1.20', kind: 'savepoint', files: 0 }],
    ['flink-1.17.2/unaligned', { version: 4, unaligned: true, kind: 'checkpoint' }],
    ['flink-1.15.4/changelog-hashmap', { version: 3, flinkVersions: '1.11 – 1.15', kind: 'unknown', changelog: true }],
    ['flink-1.14.6/rocksdb-full', { kind: 'savepoint', formatType: 'CANONICAL', properties: null }],
    ['flink-1.11.6/unaligned', { version: 3, kind: 'unknown', unaligned: true, properties: null }],
    ['flink-1.15.4/rewritten-v2-raw-state', { version: 2, flinkVersions: '1.3 – 1.10', kind: 'unknown' }],
  ])('of %s', async (name, expected) => {
    expect(await newestOf(name)).toMatchObject(expected);
  });

  it.each([
    ['flink-2.3.0/file-merging', ['shared', 'shared', 'shared', 'shared', 'taskowned']],
    ['flink-2.3.0/changelog-rocksdb', ['exclusive', 'taskowned', 'changelog']],
    ['flink-2.3.0/rocksdb-incremental', ['exclusive', 'shared']],
  ])('tells the roles of the directories of %s', async (name, roles) => {
    const { directories } = await newestOf(name);
    expect(directories.map(({ role }: Json) => role)).toEqual(roles);
  });

  it('has integers beyond 2^53 as strings', async () => {
    const states = [keyGroups(file('file:/x/a', Number.MAX_SAFE_INTEGER)), keyGroups(file('file:/x/b', 2))];
    const subtasks = states.map((managedKeyedState, index) => subtask({ index, managedKeyedState }));
    const directory = await made(
      metadata({ checkpointId: 2n ** 62n, operatorStates: [operator({ parallelism: 2, subtasks })] }),
    );
    expect(await inspected([directory])).toMatchObject({
      checkpointId: '4611686018427387904',
      stateSize: '9007199254740993',
      operatorStates: [{ largestSubtask: { index: 0, bytes: 9007199254740991 } }],
    });
    expect(await textOf([directory])).toContain('(9,007,199,254,740,993 bytes)');
  });

  it('has master states', async () => {
    const { masterStates } = await newestOf('flink-2.3.0/master-hook');
    expect(masterStates).toEqual([
      { name: 'second hook', version: 77, size: 27 },
      { name: 'first hook', version: 77, size: 26 },
    ]);
  });
});

describe('whether it can be moved', () => {
  const at = (...paths: string[]) =>
    paths.map((path, index) => subtask({ index, managedKeyedState: keyGroups(file(path)) }));

  it('is judged by the handles: absolute, but all in its own directory', async () => {
    const directory = join(await tempDirectory(), 'savepoint-012345-0123456789ab');
    const own = `file:${directory}`;
    const subtasks = at(`${own}/a`, `${own}/below/b`);
    await checkpointAt(directory, metadata({ operatorStates: [operator({ parallelism: 2, subtasks })] }));
    expect(await inspected([directory])).toMatchObject({
      relocatable: 'absolute-inside',
      directories: [
        { uri: own, role: 'exclusive', files: 1 },
        { uri: `${own}/below`, role: 'exclusive', files: 1 },
      ],
    });
    expect(await textOf([directory])).toMatch(/Can be moved +not by a plain copy: .* absolute paths .* rebase/);

    const copy = join(dirname(directory), 'elsewhere', 'savepoint-012345-0123456789ab');
    await cp(directory, copy, { recursive: true });
    const text = await textOf([copy]);
    expect(await inspected([copy])).toMatchObject({ relocatable: 'foreign' });
    expect(text).toMatch(/Can be moved +not by itself: it refers to 2 other directories \(below\)/);
    expect(text).toContain(
      `Looks copied     from file:${dirname(directory)}: its files are named there; --map file:${dirname(directory)}=file:${dirname(copy)} looks them up here`,
    );
  });

  it('with a relative path that leads out of the directory is not by itself', async () => {
    const subtasks = [subtask({ managedKeyedState: keyGroups(relativeFile('../elsewhere/x')) })];
    const directory = await made(metadata({ operatorStates: [operator({ subtasks })] }));
    expect(await inspected([directory])).toMatchObject({
      relocatable: 'foreign',
      directories: [{ uri: `file:${dirname(directory)}/elsewhere`, role: 'foreign' }],
    });
  });

  it('lists the directories of a claimed savepoint, with counts', async () => {
    const root = await tempDirectory();
    const savepoint = `file:${root}/savepoint-012345-0123456789ab`;
    const shared = `file:${root}/${ROCKSDB_JOB}/shared`;
    const state = incremental([file(`${savepoint}/a`), file(`${savepoint}/b`, 50), file(`${shared}/c`, 7)]);
    const subtasks = [subtask({ managedKeyedState: state })];
    const directory = await checkpointAt(
      join(root, ROCKSDB_JOB, 'chk-2'),
      metadata({ operatorStates: [operator({ subtasks })] }),
    );
    expect((await inspected([directory])).directories).toEqual([
      { uri: shared, role: 'shared', files: 1, bytes: 7 },
      { uri: savepoint, role: 'foreign', files: 2, bytes: 150 },
    ]);
    const text = await textOf([directory]);
    expect(text).toContain(`foreign      2  150 B  ${savepoint}\n`);
    expect(text).not.toContain('Looks copied');
  });

  it('says where a copy was taken from', async () => {
    const { path, root, original } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    expect(await textOf([path(ROCKSDB_JOB, 'chk-1')])).toContain(
      `from ${original}: its files are named there; --map ${original}=file:${root} looks them up here`,
    );
  });

  it('lists many directories only with --verbose', async () => {
    const paths = Array.from({ length: 40 }, (_, index) => `s3://bucket/${index}/chk-1/file`);
    const directory = await made(metadata({ operatorStates: [operator({ parallelism: 40, subtasks: at(...paths) })] }));
    expect(await textOf([directory])).toContain('and 28 directories more; --verbose lists all');
    const verbose = await textOf([directory, '--verbose']);
    for (const path of paths) expect(verbose).toContain(path.replace('/file', '\n'));
  });
});

describe('the text', () => {
  it('answers first what it is, then shows the operators, the biggest first', async () => {
    const { path, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const text = await textOf([...map, path(ROCKSDB_JOB, 'chk-3')]);
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^file:.*\/chk-3$/);
    expect(lines[1]).toBe('Checkpoint id    3');
    expect(lines[2]).toBe('Kind             checkpoint, incremental');
    for (const line of [
      `Job              ${ROCKSDB_JOB}`,
      'Flink            2.1 – 2.3 (derived from metadata version 6)',
      'Full size        74.1 KiB (75,836 bytes)',
      'Added by it      63.7 KiB (65,222 bytes), 86% of the full size',
      'Inline           24 B inside the metadata',
      'In files         74 KiB in 24 files: exclusive 5.54 KiB in 6, shared 68.5 KiB in 18',
      'Metadata         4.44 KiB in _metadata',
      'Can be moved     not by itself: it refers to 1 other directory (below); ckpt copy collects the files',
      'Retention        kept when the job is cancelled, fails or is suspended; deleted by Flink when newer ones replace it or the job finishes',
      'Max parallelism  128',
    ])
      expect(lines).toContain(line);
    const order = ['Keyed states', 'Progress tracker', 'Source: orders source'].map((name) =>
      lines.findIndex((line) => line.startsWith(name)),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(text).not.toContain('Looks copied');
    expect(lines.every((line) => line === line.trimEnd())).toBe(true);
  });

  it('says for old versions that names are not stored, and does not repeat ids', async () => {
    const { root, map } = await copyOfCase('flink-1.14.6/rocksdb-incremental');
    const text = await textOf([...map, '--latest', root]);
    expect(text).toContain('Names and uids are not stored: Flink does so from 2.0 on.');
    expect(text.split(operatorIdOfUid('orders-keyed'))).toHaveLength(2);
    expect(text).not.toContain('Retention');
    const v2 = await copyOfCase('flink-1.15.4/rewritten-v2-raw-state');
    expect(await textOf([...v2.map, '--latest', v2.root])).toMatch(
      /^Kind +checkpoint by its name \(metadata version 2 does not say\)$/m,
    );
  });

  it('shows operators without state apart', async () => {
    const { root, map } = await copyOfCase('flink-2.3.0/finished-tasks');
    const text = await textOf([...map, '--latest', root]);
    const [withState, without] = text.split('operators without state: a restore can do without');
    expect(withState).toMatch(/Source: partly-ended .* 1 of 2 /);
    expect(without).toMatch(/^Source: ended +2\/128 +yes .*ff42746d7aaa4729d4262fd3513fb320$/m);
    expect(without).toMatch(/^partly-ended map +2\/128 +1 of 2 /m);
  });

  it('counts coordinator state and empty operator state as state, as Flink does', async () => {
    const operatorStates = [
      operator({ operatorId: operatorId(1), name: 'coordinator', coordinatorState: inline(0) }),
      operator({
        operatorId: operatorId(2),
        name: 'empty',
        subtasks: [subtask({ managedOperatorState: operatorState(inline(0)) })],
      }),
      operator({ operatorId: operatorId(3), name: 'none', subtasks: [subtask()] }),
    ];
    const text = await textOf([await made(metadata({ operatorStates }))]);
    expect(text).toMatch(
      /2 operators, the biggest first\n[\s\S]*coordinator[\s\S]*empty[\s\S]*1 operator without state[\s\S]*none/,
    );
  });

  it('shows who deviates in max parallelism, and whether it matters', async () => {
    const keyed = [subtask({ managedKeyedState: keyGroups(inline()) })];
    const operatorStates = [1, 2, 3].map((number) =>
      operator({ operatorId: operatorId(number), name: `op ${number}`, subtasks: keyed }),
    );
    const deviating = [
      operator({ operatorId: operatorId(4), name: 'small', maxParallelism: 64, subtasks: keyed }),
      operator({ operatorId: operatorId(5), uid: 'stateless-uid', maxParallelism: 256 }),
    ];
    const directory = await made(metadata({ operatorStates: [...operatorStates, ...deviating] }));
    expect(await textOf([directory])).toContain(
      'Max parallelism  128 (3 operators), 64 (small), 256 (stateless-uid, no keyed state)\n',
    );
  });

  it('shows when one subtask is far bigger than the others', async () => {
    const subtasks = [10, 10, 970, 10].map((size, index) =>
      subtask({ index, managedKeyedState: keyGroups(relativeFile(`file-${index}`, size)) }),
    );
    const alone = [subtask({ index: 1, managedKeyedState: keyGroups(inline(500)) }), subtask({ index: 0 })];
    const operatorStates = [
      operator({ operatorId: operatorId(1), name: 'skewed', parallelism: 4, subtasks }),
      operator({ operatorId: operatorId(2), name: 'alone', parallelism: 2, subtasks: alone }),
    ];
    const directory = await made(metadata({ operatorStates }));
    const text = await textOf([directory]);
    expect(text).toMatch(/^skewed .* #2 970 B \(97\.0× the others\) /m);
    expect(text).toMatch(/^alone .* #1 500 B \(has all of it\) /m);
    expect((await inspected([directory])).operatorStates[0]).toMatchObject({
      largestSubtask: { index: 2, bytes: 970 },
      smallestSubtask: { index: 0, bytes: 10 },
    });
  });

  it('warns of bytes behind the end', async () => {
    const directory = await made(metadata());
    await appendFile(join(directory, '_metadata'), 'more');
    const { stdout, stderr, exitCode } = await runCkpt(['inspect', directory]);
    expect(stdout).toContain('After the end  4 bytes that Flink ignores\n');
    expect(stderr).toBe(
      `ckpt: warning: file:${directory}/_metadata: 4 bytes behind the end of the metadata, which Flink ignores\n`,
    );
    expect(exitCode).toBe(0);
    expect((await runCkpt(['inspect', '-q', directory])).stderr).toBe('');
  });

  it('takes an empty uid or name for none', async () => {
    const directory = await made(metadata({ operatorStates: [operator({ uid: '', name: '' })] }));
    expect((await inspected([directory])).operatorStates[0]).toMatchObject({ uid: null, name: null });
  });
});

describe('an operator', () => {
  const pointer = async () => {
    const { path, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    return [...map, path(ROCKSDB_JOB, 'chk-3')];
  };

  it.each([
    ['its id', operatorIdOfUid('orders-keyed')],
    ['its id in capitals', operatorIdOfUid('orders-keyed').toUpperCase()],
    ['the beginning of its id', operatorIdOfUid('orders-keyed').slice(0, 5)],
    ['its uid', 'orders-keyed'],
    ['its name', 'Keyed states'],
  ])('is found by %s', async (_, wanted) => {
    const { operator } = await inspected([...(await pointer()), wanted]);
    expect(operator).toMatchObject({ operatorId: operatorIdOfUid('orders-keyed'), uid: 'orders-keyed' });
  });

  it('comes with its subtasks as dump has them', async () => {
    const where = await pointer();
    const { operator } = await inspected([...where, 'orders-keyed']);
    const { stdout } = await runCkpt(['dump', ...where]);
    const inDump = JSON.parse(stdout).operatorStates.find(({ uid }: Json) => uid === 'orders-keyed');
    expect(operator.subtasks).toEqual(inDump.subtasks);
    expect(operator.namedStates).toEqual([]);
  });

  it('is shown in full, every handle included, after a short word on the checkpoint', async () => {
    const { path, map, original } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const text = await textOf([...map, path(ROCKSDB_JOB, 'chk-3'), 'orders-keyed']);
    for (const line of [
      'Checkpoint id  3',
      'Name           Keyed states',
      'Uid            orders-keyed',
      'Full size      71.4 KiB (73,144 bytes), 96.5% of the checkpoint',
      'Subtask sizes  from 35.1 KiB (#0) to 36.3 KiB (#1), the biggest 1.0× the others',
      '     #1  36.3 KiB  30.7 KiB  64–127      keyed',
    ])
      expect(text).toContain(`\n${line}\n`);
    const named = text.split('\n').filter((line) => line.includes(`${original}/${ROCKSDB_JOB}/shared/`));
    expect(named).toHaveLength(18);
    expect(text).not.toContain('Can be moved');
  });

  it('names the keyed states, of which one state file tells; a file that is gone is no failure', async () => {
    const { operator } = await newestOf('flink-2.3.0/rocksdb-incremental', 'orders-keyed');
    expect(operator.keyedStatesUnread).toBe(null);
    expect(operator.keyedStates).toContainEqual({
      ...{ name: 'buckets', kind: 'map', keyType: 'String', namespaceType: 'VoidNamespace' },
      ...{ mapKeyType: 'String', valueType: 'Long', ttl: false },
    });
    const { path, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const directory = path(ROCKSDB_JOB, 'chk-3');
    for (const name of readdirSync(directory)) {
      if (name !== '_metadata') await rename(join(directory, name), path(name));
    }
    const without = (await inspected([...map, directory, 'orders-keyed'])).operator;
    expect(without).toMatchObject({ keyedStates: [], keyedStatesUnread: expect.stringContaining('no such file') });
    const { subtasks, namedStates } = without;
    expect(subtasks).toHaveLength(2);
    expect(namedStates).toEqual([]);
  });

  it('shows named operator states', async () => {
    const { namedStates } = (await newestOf('flink-2.3.0/operator-state', 'orders-progress')).operator;
    expect(namedStates).toEqual([
      { name: 'all-splits', kind: 'managed-operator', distributionMode: 'UNION', partitions: 4, subtasks: 2 },
      { name: 'notes', kind: 'managed-operator', distributionMode: 'SPLIT_DISTRIBUTE', partitions: 2, subtasks: 2 },
      {
        name: 'own-splits',
        kind: 'managed-operator',
        distributionMode: 'SPLIT_DISTRIBUTE',
        partitions: 4,
        subtasks: 2,
      },
    ]);
  });

  it.each([
    'flink-2.3.0/unaligned',
    'flink-2.3.0/file-merging',
    'flink-2.3.0/changelog-memory',
    'flink-2.3.0/changelog-rocksdb',
    'flink-2.3.0/raw-state',
    'flink-1.14.6/rocksdb-full',
    'flink-1.15.4/rewritten-v2-savepoint-canonical-rocksdb',
  ])('of %s is shown whatever handles it has', async (name) => {
    const { root, map } = await copyOfCase(name);
    const text = await textOf([...map, '--latest', root, 'orders-keyed']);
    expect(text).toMatch(/\nHandles of subtask #0\n/);
    expect(text).not.toMatch(/undefined|NaN|\[object/);
  });

  it('of a version without uids is found by the uid all the same', async () => {
    const { operator } = await newestOf('flink-1.14.6/rocksdb-incremental', 'orders-keyed');
    expect(operator).toMatchObject({ operatorId: operatorIdOfUid('orders-keyed'), uid: null, name: null });
  });

  async function notFound(where: readonly string[], wanted: string) {
    const { stdout, stderr, exitCode } = await runCkpt(['inspect', ...where, wanted]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    const json = await runCkpt(['inspect', '--json', ...where, wanted]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'OPERATOR_NOT_FOUND', data: { operator: wanted } },
    });
    return stderr;
  }

  it('that is not there is an error with the one that was meant, or all there are', async () => {
    const where = await pointer();
    const id = operatorIdOfUid('orders-keyed');
    expect(await notFound(where, 'order-keyed')).toBe(
      `ckpt: operator "order-keyed": not in this metadata; did you mean ${id} (Keyed states, uid orders-keyed)?\n`,
    );
    expect(await notFound(where, 'quite another')).toMatch(/: not in this metadata; it has .*\(Keyed states, uid/);
    const old = await copyOfCase('flink-1.14.6/rocksdb-incremental');
    expect(await notFound([...old.map, '--latest', old.root], 'Keyed states')).toContain(
      'neither an id in this metadata nor the uid of one (names are stored from Flink 2.0 on); it has',
    );
  });

  it('that several could be is an error that names them', async () => {
    const operatorStates = [1, 2, 3].map((number) =>
      operator({ operatorId: operatorId(number), name: number < 3 ? 'Map' : 'Sink' }),
    );
    const directory = await made(metadata({ operatorStates }));
    expect(await notFound([directory], 'Map')).toBe(
      `ckpt: operator "Map": 2 operators fit: ${operatorId(1)} (Map), ${operatorId(2)} (Map)\n`,
    );
    expect(await notFound([directory], '000')).toContain('3 operators fit: ');
    expect((await inspected([directory, operatorId(2)])).operator.name).toBe('Map');
  });

  it('with a million elements in a list is counted, not printed', async () => {
    const state = operatorState(relativeFile('file', 8_000_000), 'few');
    const many = { name: 'many', distributionMode: 'UNION' as const, offsets: new BigInt64Array(1_000_000) };
    const managedOperatorState = {
      ...state,
      stateNameToPartitionOffsets: [...state.stateNameToPartitionOffsets, many],
    };
    const directory = await made(
      metadata({ operatorStates: [operator({ subtasks: [subtask({ managedOperatorState })] })] }),
    );
    const text = await textOf([directory, operatorId(1)]);
    expect(text).toMatch(/^many +managed +UNION +1,000,000 +1$/m);
    expect(text.length).toBeLessThan(2000);
  });
});

describe('--uid', () => {
  it('tells matched ones, uids without state and operators without uid', async () => {
    const uids = ['--uid', 'orders-keyed, nothing', '--uid', 'orders-source', '--uid', 'orders-keyed'];
    const { root, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const document = await inspected([...map, '--latest', root, ...uids]);
    expect(document.uids).toEqual({
      matched: [
        { uid: 'orders-keyed', operatorId: operatorIdOfUid('orders-keyed') },
        { uid: 'orders-source', operatorId: operatorIdOfUid('orders-source') },
      ],
      uidsWithoutState: ['nothing'],
      operatorsWithoutUid: [operatorIdOfUid('orders-progress')],
    });
    const text = await textOf([...map, '--latest', root, ...uids]);
    expect(text).toContain(`matched       orders-keyed   ${operatorIdOfUid('orders-keyed')} (Keyed states)\n`);
    expect(text).toMatch(/^not found +nothing$/m);
    expect(text).toMatch(/^no uid given +[0-9a-f]{32} \(Progress tracker\)$/m);
    expect(await inspected([...map, '--latest', root])).not.toHaveProperty('uids');
  });

  it('matches versions that store no uids', async () => {
    const { uids } = await newestOf('flink-1.14.6/rocksdb-incremental', '--uid', 'orders-keyed');
    expect(uids.matched).toEqual([{ uid: 'orders-keyed', operatorId: operatorIdOfUid('orders-keyed') }]);
  });

  it('claims no match where the id is not made of the uid', async () => {
    const directory = await made(metadata({ operatorStates: [operator({ uid: 'my-uid', name: 'Window' })] }));
    expect((await inspected([directory, '--uid', 'my-uid'])).uids).toEqual({
      matched: [],
      uidsWithoutState: ['my-uid'],
      operatorsWithoutUid: [operatorId(1)],
    });
    expect(await textOf([directory, 'my-uid'])).toContain('Uid          my-uid (the id is not made of it)\n');
  });

  it('of nothing is wrong use', async () => {
    for (const uids of ['', 'a,,b']) {
      const { stderr, exitCode } = await runCkpt(['inspect', 'x', '--uid', uids]);
      expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining('empty entry'), exitCode: 2 });
    }
  });
});

describe('what is no metadata', () => {
  const broken = join(fixturesDirectory(), 'broken');
  const defects = readdirSync(broken, { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it.each(defects.map(({ name }) => name))('is exit 4 with where and what: %s', async (defect) => {
    const directory = join(broken, defect);
    const expected = JSON.parse(await readFile(join(directory, 'error.json'), 'utf8'));
    for (const command of ['inspect', 'dump']) {
      const { stdout, stderr, exitCode } = await runCkpt([command, '--json', directory]);
      expect(exitCode).toBe(4);
      expect(stderr).toMatch(/^ckpt: file:.*\n$/);
      expect(stderr).toContain(`ckpt: file:${directory}/_metadata: `);
      const { error } = JSON.parse(stdout);
      expect(error).toMatchObject({ code: expected.code, message: stderr.split('\n')[0]?.slice('ckpt: '.length) });
      if (expected.offset !== undefined) expect(error.message).toContain(`at byte ${expected.offset} (`);
    }
  });

  it.runIf(isRoot)('is one of four different errors', async () => {
    const directory = await tempDirectory();
    await chmod(directory, 0o755);
    await writeFile(join(directory, 'empty'), '');
    await writeFile(join(directory, 'text'), 'hello');
    await writeFile(join(directory, 'future'), Buffer.from('4960672d000000630000', 'hex'));
    await writeFile(join(directory, 'secret'), metadata(), { mode: 0o600 });
    const codes = [];
    for (const name of ['missing', 'secret', 'text', 'empty', 'future']) {
      const { stdout, exitCode } = await runCkpt(['inspect', '--json', join(directory, name)], { uid: 65534 });
      codes.push([exitCode, JSON.parse(stdout).error.code]);
    }
    expect(codes).toEqual([
      [3, 'NOT_FOUND'],
      [3, 'PERMISSION_DENIED'],
      [4, 'NOT_FLINK_METADATA'],
      [4, 'NOT_FLINK_METADATA'],
      [4, 'UNSUPPORTED_VERSION'],
    ]);
  });

  it('has a stack only with --verbose', async () => {
    const plain = await runCkpt(['inspect', join(broken, 'text')]);
    const verbose = await runCkpt(['inspect', '--verbose', join(broken, 'text')]);
    expect(plain.stderr).not.toMatch(/^ +at /m);
    expect(verbose.stderr).toMatch(/^ +at /m);
    expect(verbose.stderr.startsWith(plain.stderr)).toBe(true);
  });
});

/** Names as nobody gives them, but files may have them. */
const EVIL = 'a\u001b[31mred\u001b]0;title\u0007\nFORGED  row\r\t\u202eRTL\u200bzero';
const LONG = `${'N'.repeat(9_990)}-end-1`;

async function hostile(): Promise<string> {
  const operatorStates = [
    operator({
      operatorId: operatorId(1),
      name: EVIL,
      uid: `${EVIL}uid`,
      parallelism: 2,
      subtasks: [
        subtask({ managedKeyedState: keyGroups(relativeFile('\u001b[2Jx\n', 3)) }),
        subtask({ index: 1, managedOperatorState: operatorState(file('file:/x/\u001b[2J\n/evil'), EVIL, LONG) }),
      ],
    }),
    operator({
      operatorId: operatorId(2),
      name: LONG,
      uid: LONG,
      maxParallelism: 64,
      subtasks: [subtask({ managedKeyedState: keyGroups(file(`s3://b/${EVIL}/k`, 10 ** 15)) })],
    }),
    operator({ operatorId: operatorId(3), name: 'Größe 窓 😀 e\u0301', uid: '窓'.repeat(50), subtasks: [subtask()] }),
  ];
  const masterStates = [{ name: EVIL, version: 1, bytes: new Uint8Array(3) }];
  return made(metadata({ masterStates, operatorStates }));
}

describe('hostile names', () => {
  it('never reach the output as they are', async () => {
    const directory = await hostile();
    for (const args of [[], [operatorId(1)], [operatorId(2)], ['--uid', `${EVIL.replaceAll('\n', ' ')}`]]) {
      const text = await textOf([directory, ...args]);
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text).not.toMatch(/^FORGED/m);
    }
    const text = await textOf([directory]);
    expect(text).toContain(String.raw`a\x1b[31mred\x1b]0;title\x07\nFORGED  row\r\t\u{202e}RTL\u{200b}zero`);
    expect(text).toContain(LONG);
    const { stderr } = await runCkpt(['inspect', directory, `${EVIL}x`]);
    expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('are in the document as they are', async () => {
    const { operatorStates } = await inspected([await hostile()]);
    expect(operatorStates.map(({ name }: Json) => name)).toEqual([EVIL, LONG, 'Größe 窓 😀 e\u0301']);
  });
});

describe.runIf(hasTerminal)('on a terminal', () => {
  const onTerminal = async (args: readonly string[], columns: number, env: Record<string, string> = {}) => {
    const { screen, exitCode } = await runInTerminal([process.execPath, binPath(), ...args], { columns, env });
    expect(exitCode).toBe(0);
    return screen;
  };

  it.each([40, 80, 200])('of %i columns no line is wider, and no name is cut', async (columns) => {
    const { path, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const real = [...map, path(ROCKSDB_JOB, 'chk-3')];
    const evil = await hostile();
    for (const args of [real, [...real, 'orders-keyed'], [...real, '--uid', 'a,b'], [evil], [evil, operatorId(1)]]) {
      const screen = await onTerminal(['inspect', '--no-color', ...args], columns);
      expect(Math.max(...screen.split('\n').map(textWidth))).toBeLessThanOrEqual(columns);
      expect(screen.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    // Without the line breaks and indents the names are whole.
    const missing = async (pointer: readonly string[], names: readonly string[]): Promise<string[]> => {
      const squeeze = (text: string): string => text.replace(/\s+/g, '');
      const screen = squeeze(await onTerminal(['inspect', '--no-color', ...pointer], columns));
      return names.filter((name) => !screen.includes(squeeze(name)));
    };
    expect(await missing([evil], ['Größe 窓 😀 e\u0301', LONG])).toEqual([]);
    const names = ['Source: orders source', 'orders-progress', ROCKSDB_JOB, operatorIdOfUid('orders-keyed')];
    expect(await missing(real, names)).toEqual([]);
  });

  it('has colours, unless they are not wanted, and the same words without them', async () => {
    const { path } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
    const args = ['inspect', path(ROCKSDB_JOB, 'chk-3')];
    const colored = await onTerminal(args, 80);
    expect(colored).toContain('\u001b[');
    const ages = /\(.* ago\)|\(just now\)/;
    for (const plain of [
      await onTerminal([...args, '--no-color'], 80),
      await onTerminal(args, 80, { NO_COLOR: '1' }),
      await onTerminal(args, 80, { TERM: 'dumb' }),
    ]) {
      expect(plain).not.toContain('\u001b');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
      expect(colored.replace(/\u001b\[\d+m/g, '').replace(ages, '')).toBe(plain.replace(ages, ''));
    }
  });
});

describe('in a pipe', () => {
  it('there are no colours unless they are forced', async () => {
    const directory = await made(metadata({ operatorStates: [operator({ name: 'Map' })] }));
    expect(await textOf([directory])).not.toContain('\u001b');
    expect(await textOf([directory], { env: { FORCE_COLOR: '1' } })).toContain('\u001b[');
    expect(await textOf([directory], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).not.toContain('\u001b');
    expect(await textOf([directory, '--no-color'], { env: { FORCE_COLOR: '1' } })).not.toContain('\u001b');
  });

  it('the reader may leave, also a big document', async () => {
    const operatorStates = Array.from({ length: 20_000 }, (_, index) =>
      operator({ operatorId: operatorId(index + 1), name: `operator ${index}` }),
    );
    const directory = await made(metadata({ operatorStates }));
    for (const flag of ['', '--json', '--verbose']) {
      const script = `{ "$NODE" "$CKPT" inspect "$DIRECTORY" ${flag}; echo "exit $?" >&2; } | head -c 10`;
      const env = { NODE: process.execPath, CKPT: binPath(), DIRECTORY: directory };
      const { stdout, stderr } = await execa('sh', ['-c', script], { env });
      expect({ flag, length: stdout.length, stderr }).toEqual({ flag, length: 10, stderr: 'exit 0' });
    }
  });

  it('a file of many operators comes whole', async () => {
    const subtasks = Array.from({ length: 10 }, (_, index) => {
      const files = Array.from({ length: 10 }, (__, at) => file(`file:/data/${ROCKSDB_JOB}/shared/${index}-${at}`, 10));
      return subtask({ index, managedKeyedState: incremental(files) });
    });
    const operatorStates = Array.from({ length: 700 }, (_, index) =>
      operator({ operatorId: operatorId(index + 1), name: `operator ${index}`, parallelism: 10, subtasks }),
    );
    const bytes = metadata({ operatorStates });
    expect(bytes.length).toBeGreaterThan(5_000_000);
    const document = await inspected([await made(bytes)]);
    expect(document).toMatchObject({
      files: 100,
      fileBytes: 1000,
      stateSize: 700 * 10 * (10 * 10 + 7),
      incremental: true,
    });
    expect(document.operatorStates).toHaveLength(700);
  });
});

it('reads and changes nothing, also where nobody may write', async () => {
  const { path, root, map } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
  await mkdir(path(ROCKSDB_JOB, 'chk-9'));
  for (const name of ['chk-1', 'chk-2', 'chk-3', 'shared']) await chmod(path(ROCKSDB_JOB, name), 0o555);
  await chmod(root, 0o555);
  const before = await snapshotOf(root);
  for (const args of [
    [path(ROCKSDB_JOB, 'chk-1')],
    [path(ROCKSDB_JOB, 'chk-1'), 'orders-keyed'],
    ['--latest', '--whole', ...map, root, '--uid', 'a', '--json'],
  ]) {
    expect((await runCkpt(['inspect', ...args])).exitCode).toBe(0);
  }
  expect((await runCkpt(['inspect', path(ROCKSDB_JOB, 'chk-9')])).exitCode).toBe(3);
  expect(await snapshotOf(root)).toEqual(before);
});

it('opens no state file: they may be gone, or pipes', async () => {
  const { path, map, original } = await copyOfCase('flink-2.3.0/rocksdb-incremental');
  const directory = path(ROCKSDB_JOB, 'chk-3');
  const before = await inspected([...map, directory]);
  await rename(path(ROCKSDB_JOB, 'shared'), path('gone'));
  for (const name of readdirSync(directory)) {
    if (name === '_metadata') continue;
    await rename(join(directory, name), path(name));
    await makePipe(join(directory, name));
  }
  expect(await inspected([...map, directory])).toEqual(before);
  expect(before.pointer).toBe(`${original}/${ROCKSDB_JOB}/chk-3`);
});
