import { describe, expect, it } from 'vitest';
import { IoError } from '../../../../src/errors.js';
import type { MemoryOperation } from '../../../../src/filesystem/memory.js';
import { Path } from '../../../../src/filesystem/path.js';
import type { DeletionRecord } from '../../../../src/operations/discard/deletion-log.js';
import { removeGarbage } from '../../../../src/operations/gc/remove.js';
import { searchGarbage } from '../../../../src/operations/gc/search.js';
import { jobIdOf, metadataOf, uuidOf } from '../../../support/gc-tree.js';
import { memoryStore, treeOf, writeFile } from '../../../support/stores.js';

const J = jobIdOf(0);
const root = Path.parse('memory:/root');
const names = ['a', 'b', 'c', 'd', 'e', 'f'].map(uuidOf).sort();
const [used = '', ...orphans] = names;

/** A whole checkpoint, five orphans in `shared/`, one checkpoint that never completed, one directory of file merging. */
async function world(failures?: (operation: MemoryOperation, path: Path) => Error | undefined) {
  const { memory, fileSystems } = memoryStore({ ...(failures && { failures }) });
  const at = (path: string): Path => path.split('/').reduce((directory, name) => directory.entry(name), root);
  const write = (path: string, contents: string | Uint8Array = 'x') => writeFile(memory, at(path), contents);
  await write(`${J}/chk-1/_metadata`, metadataOf(6, 1, { shared: [`${root}/${J}/shared/${used}`], relative: [] }));
  for (const name of names) await write(`${J}/shared/${name}`);
  for (const name of orphans.slice(0, 2)) await write(`${J}/chk-2/${name}`);
  for (const name of orphans.slice(0, 2)) await write(`${J}/taskowned/job_x_tm_y/${name}`);
  const search = await searchGarbage(fileSystems, { roots: [root], minAge: 0, now: Date.now });
  expect(search.findings.unreferenced).toHaveLength(9);
  const left = async (): Promise<string[]> => {
    return (await treeOf(memory, root)).filter((path) => !path.endsWith('/')).map((path) => path.slice(J.length + 1));
  };
  return { memory, fileSystems, search, write, left };
}

/** What is no garbage. */
const kept = ['chk-1/_metadata', `shared/${used}`];

describe('removeGarbage', () => {
  it('removes all that was found', async () => {
    const { fileSystems, search, left } = await world();
    const progress: [number, number][] = [];
    const result = await removeGarbage(fileSystems, search, {
      onProgress: (done, total) => progress.push([done, total]),
    });
    expect(result).toEqual({
      deletedFiles: 9,
      deletedBytes: 9,
      deletedDirectories: 0,
      alreadyGone: 0,
      failed: [],
      spared: [],
      blocked: [],
      interrupted: false,
    });
    expect(await left()).toEqual(kept);
    expect(progress.at(-1)).toEqual([9, 9]);
  });

  it('goes on after a failure, and tells of it', async () => {
    const stuck = `${root}/${J}/shared/${orphans[2]}`;
    const { fileSystems, search, left } = await world((operation, path) =>
      operation === 'deleteFile' && path.toString() === stuck ? new IoError(stuck, 'delete') : undefined,
    );
    const { deletedFiles, failed } = await removeGarbage(fileSystems, search);
    expect([deletedFiles, failed]).toEqual([8, [{ path: stuck, message: `${stuck}: delete failed` }]]);
    expect(await left()).toEqual([...kept, `shared/${orphans[2]}`].sort());
  });

  it('counts what somebody else has removed', async () => {
    const { memory, fileSystems, search } = await world();
    await memory.deleteFile(Path.parse(`${root}/${J}/shared/${orphans[0]}`));
    const { deletedFiles, alreadyGone, failed } = await removeGarbage(fileSystems, search);
    expect([deletedFiles, alreadyGone, failed]).toEqual([8, 1, []]);
  });

  it('stops at a safe point when it is interrupted, and can be finished', async () => {
    const stop = new AbortController();
    const { fileSystems, search, left } = await world((operation) => {
      if (operation === 'deleteFile') stop.abort(new Error('stop'));
      return undefined;
    });
    const result = await removeGarbage(fileSystems, search, { signal: stop.signal });
    expect(result.interrupted).toBe(true);
    expect(result.deletedFiles).toBeGreaterThan(0);
    expect(result.deletedFiles).toBeLessThan(9);
    expect(await left()).toHaveLength(11 - result.deletedFiles);
    const rest = await searchGarbage(fileSystems, { roots: [root], minAge: 0, now: Date.now });
    await removeGarbage(fileSystems, rest);
    expect(await left()).toEqual(kept);
  });

  it('leaves what a checkpoint names that has come since', async () => {
    const { fileSystems, search, write, left } = await world();
    const shared = [`${root}/${J}/shared/${orphans[0]}`];
    await write(`${J}/chk-3/_metadata`, metadataOf(6, 3, { shared, relative: [] }));
    const { spared, deletedFiles } = await removeGarbage(fileSystems, search);
    expect(spared).toEqual([{ path: shared[0], reason: 'in-use-now' }]);
    expect(deletedFiles).toBe(8);
    expect(await left()).toEqual([...kept, 'chk-3/_metadata', `shared/${orphans[0]}`].sort());
  });

  it('leaves what file merging claims that has come since', async () => {
    const { fileSystems, search, write, left } = await world();
    const taskOwned = `${root}/${J}/taskowned/job_x_tm_y`;
    const managed = { taskOwned, shared: `${root}/${J}/shared/none` };
    await write(`${J}/taskowned/job_x_tm_y/${uuidOf('state')}`);
    await write(
      `${J}/chk-3/_metadata`,
      metadataOf(6, 3, { shared: [`${root}/${J}/shared/${used}`], relative: [], managed }),
    );
    await removeGarbage(fileSystems, search);
    expect((await left()).filter((path) => path.startsWith('taskowned/'))).toHaveLength(3);
  });

  it.each(['chk-2', 'taskowned/job_x_tm_y'])(
    'leaves all of %s if somebody has written there since',
    async (directory) => {
      const { fileSystems, search, write, left } = await world();
      await write(`${J}/${directory}/${uuidOf('new')}`);
      const { spared } = await removeGarbage(fileSystems, search);
      expect(spared.map(({ reason }) => reason)).toEqual(['changed', 'changed']);
      expect((await left()).filter((path) => path.startsWith(`${directory}/`))).toHaveLength(3);
    },
  );

  it('removes nothing if metadata has come that cannot be read', async () => {
    const { fileSystems, search, write, left } = await world();
    await write(`${J}/chk-3/_metadata`, 'no metadata');
    const { deletedFiles, blocked } = await removeGarbage(fileSystems, search);
    expect([deletedFiles, blocked.map(({ reason }) => reason)]).toEqual([0, ['unreadable']]);
    expect(await left()).toHaveLength(12);
  });

  it('logs each file once it is gone, and goes on if that cannot be written', async () => {
    const { fileSystems, search } = await world();
    const records: DeletionRecord[] = [];
    const log = { append: (more: readonly DeletionRecord[]) => void records.push(...more), close: () => undefined };
    await removeGarbage(fileSystems, search, { log });
    expect(records.map(({ path }) => path).sort()).toEqual(search.findings.unreferenced.map(({ path }) => path).sort());
    const other = await world();
    const full = {
      append: () => {
        throw new IoError('/log', 'writing the log');
      },
      close: () => undefined,
    };
    const { deletedFiles, failed } = await removeGarbage(other.fileSystems, other.search, { log: full });
    expect([deletedFiles, failed]).toEqual([9, [{ path: 'the log', message: '/log: writing the log failed' }]]);
  });
});
