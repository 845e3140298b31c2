import { describe, expect, it } from 'vitest';
import { PermissionError } from '../../../src/errors.js';
import type { MemoryFileSystem } from '../../../src/filesystem/memory.js';
import { Path } from '../../../src/filesystem/path.js';
import type { FileSystems } from '../../../src/filesystem/registry.js';
import { findLatest, type LatestOptions, latestCheckpoint } from '../../../src/operations/latest.js';
import { locate } from '../../../src/operations/locate.js';
import { metadata } from '../../support/made-metadata.js';
import { memoryStore } from '../../support/stores.js';

const A = 'a'.repeat(32);
const B = 'b'.repeat(32);
const root = Path.parse('memory:/root');

/** A store with checkpoints at these paths: id, and when they were written. */
async function store(checkpoints: Readonly<Record<string, readonly [id: number, time: number]>>, options = {}) {
  let now = 0;
  const { memory, fileSystems } = memoryStore({ clock: () => now, ...options });
  for (const [path, [id, time]] of Object.entries(checkpoints)) {
    now = time;
    await memory.createExclusive(root.child(`${path}/_metadata`), metadata({ checkpointId: BigInt(id) }));
  }
  return { memory, fileSystems };
}

const newest = async (fileSystems: FileSystems, options?: LatestOptions): Promise<string | undefined> =>
  (await findLatest(fileSystems, root, options)).newest?.pointer.relativeTo(root);

describe('findLatest', () => {
  it('takes the highest id of a job, whatever was written last', async () => {
    const { fileSystems } = await store({
      [`${A}/chk-9`]: [9, 50],
      [`${A}/chk-10`]: [10, 20],
      [`${A}/chk-2`]: [2, 90],
    });
    expect(await newest(fileSystems)).toBe(`${A}/chk-10`);
    const { jobs } = await findLatest(fileSystems, root);
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.checkpoints.map(({ pointer }) => pointer.name)).toEqual(['chk-10', 'chk-9', 'chk-2']);
  });

  it('takes the job that has written last', async () => {
    const { fileSystems } = await store({
      [`${A}/chk-900`]: [900, 10],
      [`${B}/chk-2`]: [2, 20],
      [`${B}/chk-1`]: [1, 99],
    });
    const { jobs } = await findLatest(fileSystems, root);
    expect(jobs.map(({ job }) => job)).toEqual([B, A]);
    expect(await newest(fileSystems)).toBe(`${B}/chk-2`);
  });

  it('decides the same way every time where nothing tells', async () => {
    for (const order of [
      [A, B],
      [B, A],
    ]) {
      const { fileSystems } = await store(Object.fromEntries(order.map((job) => [`${job}/chk-1`, [1, 5]])));
      expect(await newest(fileSystems)).toBe(`${A}/chk-1`);
    }
    const { fileSystems } = await store({
      'copy/x': [1, 5],
      'copy/w': [1, 5],
      'copy/chk-3': [1, 4],
      'copy/chk-20': [1, 3],
    });
    expect(await newest(fileSystems)).toBe('copy/chk-20');
  });

  it('counts a savepoint to the one job whose id begins like its name', async () => {
    const savepoint = `savepoint-${A.slice(0, 6)}-0123456789ab`;
    const one = await store({ [`${A}/chk-1`]: [1, 50], [savepoint]: [2, 10] });
    expect(await newest(one.fileSystems)).toBe(savepoint);
    const two = await store({ [`${A}/chk-1`]: [1, 50], [`${A.slice(0, -1)}0/chk-1`]: [1, 40], [savepoint]: [2, 10] });
    expect((await findLatest(two.fileSystems, root)).jobs.map(({ job }) => job)).toEqual([
      A,
      `${A.slice(0, -1)}0`,
      A.slice(0, 6),
    ]);
  });

  it('takes what lies in one directory for one job where nothing else tells', async () => {
    const { fileSystems } = await store({ 'x/chk-1': [1, 50], 'x/chk-2': [2, 10], 'y/chk-7': [7, 30] });
    const { jobs } = await findLatest(fileSystems, root);
    expect(jobs.map(({ job, newest: { pointer } }) => [job, pointer.relativeTo(root)])).toEqual([
      [null, 'y/chk-7'],
      [null, 'x/chk-2'],
    ]);
  });

  it('picks a job by its id, the beginning of it, or that of a savepoint', async () => {
    const { fileSystems } = await store({
      [`${A}/chk-1`]: [1, 10],
      [`${B}/chk-1`]: [1, 20],
      'savepoint-cccccc-0123456789ab': [1, 30],
    });
    expect(await newest(fileSystems, { job: A })).toBe(`${A}/chk-1`);
    expect(await newest(fileSystems, { job: 'bb' })).toBe(`${B}/chk-1`);
    for (const job of ['cc', 'c'.repeat(32)])
      expect(await newest(fileSystems, { job })).toBe('savepoint-cccccc-0123456789ab');
    expect(await newest(fileSystems, { job: 'd' })).toBeUndefined();
  });

  it('reports what it could not read, in order', async () => {
    const { memory, fileSystems } = await store(
      { 'z/chk-1': [1, 10], 'b/chk-1': [1, 10] },
      {
        failures: (operation: string, path: Path) =>
          operation === 'list' && path.name === 'closed' ? new PermissionError(path.toString()) : undefined,
      },
    );
    await memory.makeDirectory(root.child('closed'));
    await memory.makeDirectory(root.child('a/_metadata'));
    await memory.createExclusive(root.child('empty/_metadata'), new Uint8Array());
    await memory.createExclusive(root.child('half/_metadata.discarding'), metadata());
    const { unreadable } = await findLatest(fileSystems, root);
    expect(unreadable.map(({ path, error }) => [path.relativeTo(root), (error as { code: string }).code])).toEqual([
      ['a', 'NO_METADATA'],
      ['closed', 'PERMISSION_DENIED'],
      ['empty', 'NOT_FLINK_METADATA'],
    ]);
  });

  it('tells how far it is, and stops on request', async () => {
    const { fileSystems } = await store({ 'x/chk-1': [1, 10], 'x/chk-2': [2, 10] });
    const steps: [number, number][] = [];
    await findLatest(fileSystems, root, { onProgress: (listed, found) => steps.push([listed, found]) });
    expect(steps.at(-1)).toEqual([4, 2]);
    const reason = new Error('stop');
    await expect(findLatest(fileSystems, root, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('reads nothing but names and the first bytes of metadata', async () => {
    const { memory, fileSystems } = await store({ [`${A}/chk-1`]: [1, 10] });
    for (let i = 0; i < 50; i++) await memory.createExclusive(root.child(`${A}/shared/${i}`), new Uint8Array(9));
    memory.operations.length = 0;
    await findLatest(fileSystems, root);
    const opened = memory.operations.filter(({ operation }) => operation === 'open').map(({ path }) => path);
    expect(opened).toEqual([`${root}/${A}/chk-1/_metadata`]);
    expect(memory.operations.filter(({ operation }) => operation === 'read')).toHaveLength(1);
  });
});

describe('latestCheckpoint', () => {
  const message = async (memory: { fileSystems: FileSystems }, options?: LatestOptions): Promise<string> => {
    const error = await latestCheckpoint(memory.fileSystems, root, options).catch((thrown: unknown) => thrown);
    return error instanceof Error ? error.message : 'no error';
  };
  const withBroken = async (memory: MemoryFileSystem): Promise<void> =>
    memory.createExclusive(root.child('x/_metadata'), new Uint8Array());

  it('says what it looked for in vain', async () => {
    const empty = await store({});
    await empty.memory.makeDirectory(root);
    expect(await message(empty)).toBe(`${root}: no complete checkpoint or savepoint below this directory`);
    expect(await message(empty, { job: 'ab' })).toBe(
      `${root}: no complete checkpoint or savepoint of job ab below this directory`,
    );
    await withBroken(empty.memory);
    expect(await message(empty)).toMatch(/below this directory; 1 could not be read, the first: memory:\/root\/x$/);
    const whole = await store({ 'x/chk-1': [1, 1] });
    expect(await message(whole, { accept: async () => false })).toContain('no whole checkpoint or savepoint');
  });

  it('passes on why the root itself cannot be read', async () => {
    expect(await message(await store({}))).toBe(`${root}: no such file or directory`);
  });

  it('asks for each from the newest on until one is accepted, the jobs taking turns', async () => {
    const { fileSystems } = await store({
      [`${A}/chk-3`]: [3, 100],
      [`${A}/chk-2`]: [2, 90],
      [`${A}/chk-1`]: [1, 10],
      [`${B}/chk-8`]: [8, 50],
      [`${B}/chk-7`]: [7, 40],
    });
    const asked: (string | undefined)[] = [];
    const found = await latestCheckpoint(fileSystems, root, {
      accept: async ({ pointer }) => {
        asked.push(pointer.relativeTo(root));
        return pointer.name === 'chk-7';
      },
    });
    expect(asked).toEqual([`${A}/chk-3`, `${A}/chk-2`, `${B}/chk-8`, `${B}/chk-7`]);
    expect(found.newest.pointer.name).toBe('chk-7');
  });
});

describe('locate', () => {
  it('takes a pointer, or with latest a directory, and tells of other jobs', async () => {
    const { fileSystems } = await store({ [`${A}/chk-1`]: [1, 20], [`${B}/chk-1`]: [1, 10] });
    const plain = await locate(fileSystems, `${root}/${A}/chk-1`);
    expect(plain).toMatchObject({ pointer: { directory: root.child(`${A}/chk-1`) }, otherJobs: [], unreadable: [] });
    const latest = await locate(fileSystems, `${root}/`, { latest: true });
    expect(latest.pointer).toEqual({ ...plain.pointer, given: `${root}/` });
    expect(latest.otherJobs.map(({ job }) => job)).toEqual([B]);
    const accepted = await locate(fileSystems, `${root}`, {
      latest: true,
      accept: async ({ given, directory }) => given === `${root}` && directory.startsWith(root.child(B)),
    });
    expect(accepted.pointer.directory).toEqual(root.child(`${B}/chk-1`));
    expect(accepted.otherJobs.map(({ job }) => job)).toEqual([A]);
  });
});
