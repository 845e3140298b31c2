import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IoError, NotFoundError, PermissionError } from '../../../src/errors.js';
import type { FileSystem } from '../../../src/filesystem/file-system.js';
import { Path } from '../../../src/filesystem/path.js';
import { createFileSystems, type FileSystems } from '../../../src/filesystem/registry.js';
import { writeCheckpointProperties } from '../../../src/format/java/properties.js';
import { forCheckpoint, forSavepoint } from '../../../src/model/checkpoint-properties.js';
import type { StreamStateHandle } from '../../../src/model/state-handles.js';
import type { ListEntry, ListResult } from '../../../src/operations/list/entry.js';
import { sortEntries } from '../../../src/operations/list/jobs.js';
import { type ListOptions, listCheckpoints } from '../../../src/operations/list/list.js';
import {
  checkpointAt,
  file,
  incremental,
  metadata,
  operator,
  operatorId,
  relativeFile,
  subtask,
} from '../../support/made-metadata.js';
import { tempDirectory } from '../../support/temp.js';

const JOB = 'aaaaaaaa000000000000000000000001';
const OTHER_JOB = 'bbbbbbbb000000000000000000000002';
/** Long after everything in these tests was made. */
const LATER = { now: Date.now() + 1e9, minAge: 900_000 };

const fileSystems = createFileSystems({ configuration: new Map() });

async function list(roots: readonly string[], options: Partial<ListOptions> = {}): Promise<ListResult> {
  const paths = roots.map((root) => fileSystems.nameOf(Path.parse(root)));
  return listCheckpoints(fileSystems, paths, { ...LATER, ...options });
}

/** Metadata of one operator with these files in its shared list. */
function withFiles(checkpointId: number, ...files: readonly StreamStateHandle[]): Uint8Array {
  return metadata({
    checkpointId: BigInt(checkpointId),
    operatorStates: [operator({ subtasks: [subtask({ managedKeyedState: incremental(files) })] })],
  });
}

/** Like these file systems, but directories of these names cannot be listed. */
function withFailingLists(systems: FileSystems, failures: Record<string, (path: string) => Error>): FileSystems {
  const wrap = (fileSystem: FileSystem): FileSystem =>
    new Proxy(fileSystem, {
      get(target, property) {
        if (property !== 'list') {
          const value: unknown = Reflect.get(target, property);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async function* (directory: Path, signal?: AbortSignal) {
          const failure = failures[directory.name];
          if (failure) throw failure(directory.toString());
          yield* target.list(directory, signal);
        };
      },
    });
  return {
    schemes: systems.schemes,
    qualify: (path) => systems.qualify(path),
    lookUp: (path) => systems.lookUp(path),
    nameOf: (path) => systems.nameOf(path),
    get: async (path) => wrap(await systems.get(path)),
  };
}

const brief = ({ pointer, checkpointId, status }: ListEntry): string =>
  `${pointer.split('/').at(-1)} ${checkpointId} ${status}`;

describe('list', () => {
  it('tells complete, incomplete, half-discarded and broken apart, in the order of numbers', async () => {
    const root = await tempDirectory();
    const job = join(root, JOB);
    for (const id of [10, 9, 2, 276, 2514]) await checkpointAt(join(job, `chk-${id}`), withFiles(id));
    await mkdir(join(job, 'chk-11'));
    await writeFile(join(job, 'chk-11', 'state'), 'twelve bytes');
    await checkpointAt(join(job, 'chk-3'), Buffer.from('not metadata'));
    await checkpointAt(join(job, 'chk-4'), new Uint8Array());
    await mkdir(join(job, 'chk-5', '_metadata'), { recursive: true });
    await mkdir(join(job, 'chk-6'));
    await writeFile(join(job, 'chk-6', '_metadata.discarding'), withFiles(6));
    await checkpointAt(join(job, 'chk-7'), withFiles(7));
    await writeFile(join(job, 'chk-7', '_metadata.discarding'), withFiles(7));
    const { entries, jobs, failed } = await list([root]);
    expect(entries.map(brief)).toEqual([
      'chk-2 2 complete',
      'chk-3 3 broken',
      'chk-4 4 broken',
      'chk-5 5 broken',
      'chk-6 6 half-discarded',
      'chk-7 7 complete',
      'chk-9 9 complete',
      'chk-10 10 complete',
      'chk-11 11 incomplete',
      'chk-276 276 complete',
      'chk-2514 2514 complete',
    ]);
    expect(failed).toEqual([]);
    const [first, broken, empty, directory, tombstone] = entries;
    expect(first).toEqual({
      pointer: `file:${job}/chk-2`,
      jobId: JOB,
      jobIdPrefix: null,
      kind: 'checkpoint',
      checkpointId: 2,
      status: 'complete',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      version: 6,
      metadataBytes: withFiles(2).length,
      totalBytes: null,
      exclusiveBytes: null,
      operatorNames: null,
      leftFiles: null,
      leftBytes: null,
      error: null,
    });
    expect(broken).toMatchObject({ error: { code: 'NOT_FLINK_METADATA' }, metadataBytes: 12, version: null });
    expect(empty).toMatchObject({ error: { message: expect.stringContaining('0 bytes') }, metadataBytes: 0 });
    expect(directory).toMatchObject({ error: { code: 'WRONG_FILE_TYPE' }, metadataBytes: null });
    expect(tombstone).toMatchObject({ version: 6, metadataBytes: withFiles(6).length, error: null });
    expect(entries.find(({ pointer }) => pointer.endsWith('chk-11'))).toMatchObject({
      leftFiles: 1,
      leftBytes: 12,
      metadataBytes: null,
      version: null,
    });
    expect(jobs).toEqual([
      {
        jobId: JOB,
        jobIdPrefix: null,
        directory: `file:${job}`,
        newest: `file:${job}/chk-2514`,
        time: entries.at(-1)?.time,
        complete: 6,
        incomplete: 1,
        inProgress: 0,
        halfDiscarded: 1,
        broken: 3,
        metadataBytes: entries.reduce((sum, { metadataBytes }) => sum + (metadataBytes ?? 0), 0),
        totalBytes: null,
        operatorNames: null,
      },
    ]);
  });

  it('names the version that it cannot read', async () => {
    const root = await tempDirectory();
    const bytes = Buffer.from(metadata());
    bytes.writeInt32BE(7, 4);
    await checkpointAt(join(root, 'chk-1'), bytes);
    const { entries } = await list([root]);
    expect(entries).toMatchObject([{ status: 'broken', version: 7, error: { code: 'UNSUPPORTED_VERSION' } }]);
  });

  it('takes a directory that changed just now as in progress: itself, a file in it, or a time in the future', async () => {
    const root = await tempDirectory();
    const old = new Date(Date.now() - 3_600_000);
    for (const [index, name] of ['chk-1', 'chk-2', 'savepoint-aaaaaa-000000000000'].entries()) {
      const directory = join(root, name);
      await mkdir(directory);
      await writeFile(join(directory, 'state'), 'x');
      const time = index === 1 ? new Date(Date.now() + 3_600_000) : old;
      await utimes(join(directory, 'state'), time, time);
      await utimes(directory, old, old);
    }
    const status = async (now: number, minAge: number): Promise<string[]> => {
      const { entries } = await list([root], { now, minAge });
      return [...entries].sort((a, b) => (a.pointer < b.pointer ? -1 : 1)).map((entry) => entry.status);
    };
    // Whatever the times were set to, the system knows when they were.
    expect(await status(Date.now(), 900_000)).toEqual(['in-progress', 'in-progress', 'in-progress']);
    expect(await status(Date.now() + 1_800_000, 900_000)).toEqual(['incomplete', 'in-progress', 'incomplete']);
    expect(await status(Date.now() + 1e9, 1000)).toEqual(['incomplete', 'incomplete', 'incomplete']);
  });

  it('finds every layout: jobs, no job level, savepoints beside and among, any name, nested shared directories', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    await checkpointAt(join(root, JOB, 'savepoint-aaaaaa-0123456789ab'), withFiles(2));
    await checkpointAt(join(root, 'savepoint-bbbbbb-0123456789ab'), withFiles(3));
    await checkpointAt(join(root, 'savepoint-cccccc-0123456789ab'), withFiles(4));
    await checkpointAt(join(root, 'chk-7'), withFiles(7));
    await checkpointAt(join(root, 'kept', 'before the upgrade'), withFiles(8));
    await mkdir(join(root, JOB, 'shared', 'job_x_op_y_0_1'), { recursive: true });
    await mkdir(join(root, JOB, 'taskowned'));
    await mkdir(join(root, OTHER_JOB, 'shared'), { recursive: true });
    const { entries, jobs } = await list([root]);
    expect(
      new Set(entries.map(({ pointer, jobId, jobIdPrefix, kind }) => [pointer, jobId, jobIdPrefix, kind])),
    ).toEqual(
      new Set([
        [`file:${root}/${JOB}/chk-1`, JOB, null, 'checkpoint'],
        [`file:${root}/${JOB}/savepoint-aaaaaa-0123456789ab`, null, 'aaaaaa', 'savepoint'],
        [`file:${root}/savepoint-bbbbbb-0123456789ab`, null, 'bbbbbb', 'savepoint'],
        [`file:${root}/savepoint-cccccc-0123456789ab`, null, 'cccccc', 'savepoint'],
        [`file:${root}/chk-7`, null, null, 'checkpoint'],
        [`file:${root}/kept/before the upgrade`, null, null, 'unknown'],
      ]),
    );
    // The savepoint of the second job is all it has; the third has no job that is known.
    const summary = jobs.map(({ jobId, jobIdPrefix, directory, complete }) => [
      jobId ?? jobIdPrefix,
      directory?.slice(root.length + 5) ?? null,
      complete,
    ]);
    expect(new Set(summary)).toEqual(
      new Set([
        [JOB, `/${JOB}`, 2],
        [OTHER_JOB, '', 1],
        ['cccccc', '', 1],
        [null, '', 1],
        [null, '/kept', 1],
      ]),
    );
  });

  it('shows a job without checkpoints', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, JOB, 'shared'), { recursive: true });
    const { entries, jobs } = await list([root]);
    expect(entries).toEqual([]);
    expect(jobs).toMatchObject([{ jobId: JOB, newest: null, directory: null, complete: 0 }]);
  });

  it('reads the kind from the properties where the name says nothing', async () => {
    const root = await tempDirectory();
    const savepoint = writeCheckpointProperties(forSavepoint({ forced: true, formatType: 'CANONICAL' }));
    const checkpoint = writeCheckpointProperties(forCheckpoint('RETAIN_ON_CANCELLATION'));
    await checkpointAt(join(root, 'a'), metadata({ propertiesBlock: savepoint }));
    await checkpointAt(join(root, 'b'), metadata({ propertiesBlock: checkpoint }));
    await checkpointAt(join(root, 'c'), metadata({ version: 3 }));
    await checkpointAt(join(root, 'd'), Buffer.concat([metadata({ propertiesBlock: savepoint }).subarray(0, -1)]));
    const { entries } = await list([root]);
    const kinds = entries.map(({ pointer, kind }) => `${pointer.at(-1)} ${kind}`).sort();
    expect(kinds).toEqual(['a savepoint', 'b checkpoint', 'c unknown', 'd unknown']);
  });

  it('takes several roots, one inside the other once, a checkpoint as its own root; tells of a missing one', async () => {
    const root = await tempDirectory();
    const checkpoint = await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    const { entries, roots } = await list([root, join(root, JOB), `${root}/`]);
    expect(entries).toHaveLength(1);
    expect(roots).toHaveLength(3);
    expect((await list([checkpoint])).entries.map(brief)).toEqual(['chk-1 1 complete']);
    const half = await list([checkpoint, join(root, 'nowhere')]);
    expect(half.entries).toHaveLength(1);
    expect(half.failed).toMatchObject([{ path: `file:${root}/nowhere`, error: { code: 'NOT_FOUND' } }]);
  });

  it('follows links, and takes no checkpoint twice because of one', async () => {
    const root = await tempDirectory();
    const elsewhere = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    await checkpointAt(join(elsewhere, 'chk-2'), withFiles(2));
    await symlink(join(root, JOB, 'chk-1'), join(root, 'latest'));
    await symlink(root, join(root, JOB, 'up'));
    await symlink(elsewhere, join(root, 'mounted'));
    expect((await list([root])).entries.map(brief).sort()).toEqual(['chk-1 1 complete', 'chk-2 2 complete']);
  });

  it('counts a directory that cannot be listed as broken, unless it has vanished', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    for (const name of ['chk-2', 'chk-3', 'shared']) await mkdir(join(root, JOB, name));
    const failing = withFailingLists(fileSystems, {
      'chk-2': (path) => new NotFoundError(path),
      'chk-3': (path) => new IoError(path, 'list'),
      shared: (path) => new PermissionError(path),
    });
    const found = await listCheckpoints(failing, [fileSystems.nameOf(Path.parse(root))], LATER);
    expect(found.failed).toEqual([]);
    expect(found.entries).toMatchObject([
      { status: 'complete' },
      { status: 'broken', jobId: JOB, checkpointId: 3, kind: 'checkpoint', error: { code: 'IO_ERROR' } },
      { status: 'broken', jobId: JOB, checkpointId: null, kind: 'unknown', error: { code: 'PERMISSION_DENIED' } },
    ]);
    expect(found.jobs).toMatchObject([{ jobId: JOB, complete: 1, broken: 2 }]);
    const sized = await listCheckpoints(failing, [fileSystems.nameOf(Path.parse(root))], { ...LATER, sizes: true });
    expect(sized).toMatchObject({ unread: [], entries: found.entries.map(({ status }) => ({ status })) });
    const other = await listCheckpoints(failing, [fileSystems.nameOf(Path.parse(root))], { ...LATER, job: 'b' });
    expect(other.entries).toEqual([]);
  });

  it('picks one job by the first digits of its id, with its savepoints', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    await checkpointAt(join(root, OTHER_JOB, 'chk-1'), withFiles(1));
    await checkpointAt(join(root, 'savepoint-aaaaaa-0123456789ab'), withFiles(2));
    await checkpointAt(join(root, 'savepoint-bbbbbb-0123456789ab'), withFiles(2));
    const { entries, jobs } = await list([root], { job: 'aaaaaaaa' });
    expect(entries.map(brief)).toEqual(['chk-1 1 complete', 'savepoint-aaaaaa-0123456789ab 2 complete']);
    expect(jobs).toMatchObject([{ jobId: JOB, complete: 2 }]);
  });

  it('tells of entries as it finds them; of unfinished ones when it knows them to be such', async () => {
    const root = await tempDirectory();
    for (const id of [1, 2, 3]) await checkpointAt(join(root, JOB, `chk-${id}`), withFiles(id));
    await mkdir(join(root, JOB, 'chk-4'));
    const told: string[] = [];
    const { entries } = await list([root], { onEntry: (entry) => void told.push(brief(entry)) });
    expect([...told].sort()).toEqual(entries.map(brief));
    expect(told.at(-1)).toBe('chk-4 4 incomplete');
  });

  it('takes the scattered files of a complete checkpoint for no checkpoints of their own', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'), withFiles(1));
    for (const entropy of ['x1', 'x2']) {
      for (const id of [1, 2]) {
        await mkdir(join(root, entropy, JOB, `chk-${id}`), { recursive: true });
        await writeFile(join(root, entropy, JOB, `chk-${id}`, 'state'), 'x');
      }
    }
    expect((await list([root])).entries.map(brief)).toEqual([
      'chk-1 1 complete',
      'chk-2 2 incomplete',
      'chk-2 2 incomplete',
    ]);
  });

  it('sorts by time and size, the newest and the biggest first', () => {
    const entry = (pointer: string, time: string, totalBytes: number, exclusiveBytes: number): ListEntry =>
      ({ pointer, time, totalBytes, exclusiveBytes, checkpointId: 1 }) as ListEntry;
    const entries = [entry('a', '2026-01-01', 5, 5), entry('b', '2026-03-01', 9, 1), entry('c', '2026-02-01', 7, 6)];
    const order = (by: Parameters<typeof sortEntries>[1]): string =>
      sortEntries(entries, by)
        .map(({ pointer }) => pointer)
        .join('');
    expect(order('id')).toBe('abc');
    expect(order('time')).toBe('bca');
    expect(order('size')).toBe('bca');
    expect(order('exclusive')).toBe('cab');
  });
});

describe('list with sizes', () => {
  const sizes = async (root: string): Promise<Record<string, readonly [number | null, number | null]>> => {
    const { entries } = await list([root], { sizes: true });
    return Object.fromEntries(
      entries.map(({ pointer, totalBytes, exclusiveBytes, metadataBytes }) => [
        pointer.slice(root.length + 6),
        [
          totalBytes === null ? null : totalBytes - (metadataBytes ?? 0),
          exclusiveBytes === null ? null : exclusiveBytes - (metadataBytes ?? 0),
        ],
      ]),
    );
  };

  it('tells what each holds and what it alone holds, each file once', async () => {
    const root = await tempDirectory();
    const shared = `file:${root}/shared`;
    await checkpointAt(join(root, 'chk-1'), withFiles(1, file(`${shared}/a`, 1000), file(`${shared}/b`, 200)));
    await checkpointAt(
      join(root, 'chk-2'),
      withFiles(2, file(`${shared}/b`, 200), file(`${shared}/c`, 30), file(`${shared}/c`, 30), relativeFile('d', 4)),
    );
    expect(await sizes(root)).toEqual({ 'chk-1': [1200, 1000], 'chk-2': [234, 34] });
    const { jobs } = await list([root], { sizes: true });
    expect(jobs[0]?.totalBytes).toBe(1234 + (jobs[0]?.metadataBytes ?? 0));
  });

  it('takes names of one file as one: a link, and a link to the directory', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, 'shared'));
    await writeFile(join(root, 'shared', 'a'), 'x');
    await symlink(join(root, 'shared'), join(root, 'other'));
    await symlink('a', join(root, 'shared', 'link'));
    await checkpointAt(join(root, 'chk-1'), withFiles(1, file(`file:${root}/shared/a`, 1000)));
    await checkpointAt(join(root, 'chk-2'), withFiles(2, file(`file:${root}/other/a`, 1000)));
    expect(await sizes(root)).toEqual({ 'chk-1': [1000, 0], 'chk-2': [1000, 0] });
    await checkpointAt(join(root, 'chk-2'), withFiles(2, file(`file:${root}/shared/link`, 1000)));
    expect(await sizes(root)).toEqual({ 'chk-1': [1000, 0], 'chk-2': [1000, 0] });
  });

  it('counts a tombstone and metadata of another name as holders', async () => {
    const root = await tempDirectory();
    const shared = `file:${root}/shared`;
    const named = (id: number, ...names: string[]): Uint8Array =>
      withFiles(id, ...names.map((name) => file(`${shared}/${name}`, 100)));
    await checkpointAt(join(root, 'chk-1'), named(1, 'a', 'b', 'c'));
    await mkdir(join(root, 'chk-2'));
    await writeFile(join(root, 'chk-2', '_metadata.discarding'), named(2, 'a'));
    await writeFile(join(root, 'chk-1', 'old_metadata'), named(1, 'b'));
    expect(await sizes(root)).toEqual({ 'chk-1': [300, 100], 'chk-2': [100, 0] });
  });

  it('adds up the files of a directory without metadata, but for those that others name', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, 'chk-3'));
    await writeFile(join(root, 'chk-3', 'mine'), 'x'.repeat(50));
    await writeFile(join(root, 'chk-3', 'used'), 'x'.repeat(7));
    await checkpointAt(join(root, 'chk-4'), withFiles(4, file(`file:${root}/chk-3/used`, 7)));
    expect(await sizes(root)).toEqual({ 'chk-3': [57, 50], 'chk-4': [7, 7] });
  });

  it('finds damage behind the header, says so, and goes on', async () => {
    const root = await tempDirectory();
    const bytes = withFiles(1, file(`file:${root}/shared/a`, 1000));
    await checkpointAt(join(root, 'chk-1'), bytes.subarray(0, bytes.length - 30));
    await checkpointAt(join(root, 'chk-2'), withFiles(2, file(`file:${root}/shared/b`, 10)));
    expect((await list([root])).entries.map(brief)).toEqual(['chk-1 1 complete', 'chk-2 2 complete']);
    const { entries, unread } = await list([root], { sizes: true });
    expect(entries).toMatchObject([
      { status: 'broken', totalBytes: null, exclusiveBytes: null, error: { code: 'CORRUPT_METADATA' } },
      { status: 'complete', error: null },
    ]);
    expect(unread).toEqual([]);
    await writeFile(join(root, 'chk-2', 'stray'), bytes.subarray(0, 40));
    const again = await list([root], { sizes: true });
    expect(again.unread).toMatchObject([{ path: `file:${root}/chk-2/stray`, error: { code: 'CORRUPT_METADATA' } }]);
  });

  it('gives names of operators, else uids, each once; none where none are stored', async () => {
    const root = await tempDirectory();
    const operatorStates = [
      operator({ operatorId: operatorId(1), name: 'Window' }),
      operator({ operatorId: operatorId(2), uid: 'my-uid' }),
      operator({ operatorId: operatorId(3) }),
      operator({ operatorId: operatorId(4), name: 'Window', uid: 'other' }),
    ];
    await checkpointAt(join(root, 'chk-1'), metadata({ operatorStates }));
    await checkpointAt(
      join(root, 'chk-2'),
      metadata({ version: 4, operatorStates: [operator({ operatorId: operatorId(1) })], checkpointId: 2n }),
    );
    const { entries, jobs } = await list([root], { sizes: true });
    expect(entries.map(({ operatorNames }) => operatorNames)).toEqual([['Window', 'my-uid'], []]);
    expect(jobs[0]?.operatorNames).toEqual([]);
  });

  it('is not troubled by checkpoints that vanish while it reads', async () => {
    const root = await tempDirectory();
    for (const id of [1, 2, 3]) await checkpointAt(join(root, `chk-${id}`), withFiles(id));
    const { entries, unread, failed } = await list([root], {
      sizes: true,
      onProgress: (phase, done) => {
        // Before the first is read, and without a pause in which anything else could happen.
        if (phase === 'reading' && done === 1) void rm(join(root, 'chk-3'), { recursive: true });
      },
    });
    expect({ unread, failed }).toEqual({ unread: [], failed: [] });
    expect(entries.map(({ error }) => error)).toEqual(entries.map(() => null));
  });

  it('stops when it is told to', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, 'chk-1'));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(list([root], { signal })).rejects.toThrow('enough');
    await expect(list([root], { signal, sizes: true })).rejects.toThrow('enough');
  });
});
