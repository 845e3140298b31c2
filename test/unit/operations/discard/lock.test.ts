import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { PermissionError, RefusedError } from '../../../../src/errors.js';
import type { Path } from '../../../../src/filesystem/path.js';
import { LOCK_FILE, readLock, refuseIfLocked, withLock } from '../../../../src/operations/discard/lock.js';
import { DiscardTree } from '../../../support/discard-tree.js';

const command = { command: 'test' };

function holder(more: object): string {
  const other = { host: 'elsewhere', pid: 4711, time: '2026-01-01T00:00:00.000Z', command: 'gc', processes: null };
  return JSON.stringify({ ...other, pointers: [], token: 'theirs', ...more });
}

/** The number of a process that has ended. */
async function endedProcess(): Promise<number> {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['-e', '0']);
  await new Promise((resolve) => child.on('close', resolve));
  return child.pid ?? 0;
}

describe.each(['file-system', 'object-store'] as const)('a lock on %s', (kind) => {
  const make = () => new DiscardTree({ kind, ...(kind === 'object-store' && { scheme: 's3' }) });

  it('says who holds it while the work is done, and goes afterwards', async () => {
    const tree = make();
    const roots = [tree.path('a'), tree.path('b')];
    const result = await withLock(tree.fileSystems, roots, { ...command, pointers: ['p'] }, async () => {
      expect(tree.names()).toEqual([`a/${LOCK_FILE}`, `b/${LOCK_FILE}`]);
      const lock = await readLock(tree.fileSystems, roots[0] as Path);
      expect(lock).toMatchObject({ host: hostname(), pid: process.pid, command: 'test', pointers: ['p'] });
      expect(new Date(lock?.time ?? '').toISOString()).toBe(lock?.time);
      return 42;
    });
    expect(result).toBe(42);
    expect(tree.names()).toEqual([]);
  });

  it('goes if the work fails', async () => {
    const tree = make();
    const failure = new Error('failed');
    const failing = withLock(tree.fileSystems, [tree.path('a')], command, async () => {
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(tree.names()).toEqual([]);
  });

  it('keeps others out, of this process as well, and what was taken is given back', async () => {
    const tree = make();
    const roots = [tree.path('a'), tree.path('b')];
    let worked = 0;
    await withLock(tree.fileSystems, [tree.path('b')], command, async () => {
      const second = withLock(tree.fileSystems, roots, command, async () => void worked++);
      await expect(second).rejects.toThrow(RefusedError);
      expect(tree.names()).toEqual([`b/${LOCK_FILE}`]);
    });
    expect(worked).toBe(0);
    expect(await withLock(tree.fileSystems, roots, command, async () => ++worked)).toBe(1);
  });

  it('lets one of many that want it have it', async () => {
    const tree = make();
    const attempts = Array.from({ length: 20 }, () =>
      withLock(tree.fileSystems, [tree.path('a')], command, async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 'worked';
      }).catch((error: unknown) => error),
    );
    const results = await Promise.all(attempts);
    expect(results.filter((result) => result === 'worked').length).toBe(1);
    expect(results.filter((result) => result instanceof RefusedError).length).toBe(19);
  });

  it('of a process of this machine that has ended is taken over, with a warning', async () => {
    const tree = make();
    const { processes } = await withLock(tree.fileSystems, [tree.path('a')], command, async () => {
      return (await readLock(tree.fileSystems, tree.path('a'))) ?? { processes: null };
    });
    tree.put(`a/${LOCK_FILE}`, holder({ host: hostname(), pid: await endedProcess(), processes }));
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    expect(await withLock(tree.fileSystems, [tree.path('a')], { ...command, warn }, async () => 1)).toBe(1);
    expect(warnings).toEqual([expect.stringContaining('does not run any more')]);
    expect(tree.names()).toEqual([]);
  });

  it.each([
    ['of another machine', holder({})],
    ['of a process that runs', holder({ host: hostname(), pid: process.ppid })],
    ['that says nothing', ''],
    ['that makes no sense', '{"host": 1}'],
  ])('%s is respected, and broken on request', async (_what, contents) => {
    const tree = make();
    tree.put(`a/${LOCK_FILE}`, contents);
    const work = async () => tree.names().length;
    await expect(withLock(tree.fileSystems, [tree.path('a')], command, work)).rejects.toThrow(RefusedError);
    expect(tree.names()).toEqual([`a/${LOCK_FILE}`]);
    const breaking = { ...command, ifHeld: 'break' } as const;
    expect(await withLock(tree.fileSystems, [tree.path('a')], breaking, work)).toBe(1);
    expect(tree.names()).toEqual([]);
  });

  it('of a directory above is respected', async () => {
    const tree = make();
    tree.put(`a/${LOCK_FILE}`, holder({}));
    const below = [tree.path('a/b/c')];
    await expect(withLock(tree.fileSystems, below, command, async () => 1)).rejects.toThrow(RefusedError);
    await expect(refuseIfLocked(tree.fileSystems, tree.path('a'), command)).rejects.toThrow(RefusedError);
    await refuseIfLocked(tree.fileSystems, tree.path('b'), command);
  });

  it('that somebody else has taken over meanwhile is left to them', async () => {
    const tree = make();
    await withLock(tree.fileSystems, [tree.path('a')], command, async () => {
      tree.put(`a/${LOCK_FILE}`, holder({}));
    });
    expect(tree.names()).toEqual([`a/${LOCK_FILE}`]);
  });
});

it('is done without where no file can be made, with a warning', async () => {
  const tree: DiscardTree = new DiscardTree({
    failures: (operation, path) => (operation === 'createAtomic' ? new PermissionError(path.toString()) : undefined),
  });
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  expect(await withLock(tree.fileSystems, [tree.path('a')], { ...command, warn }, async () => 1)).toBe(1);
  expect(warnings).toEqual([expect.stringContaining('permission denied')]);
});
