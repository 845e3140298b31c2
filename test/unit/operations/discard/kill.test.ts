import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import pMap from 'p-map';
import { expect, it } from 'vitest';
import { createFileSystems } from '../../../../src/filesystem/registry.js';
import { LOCK_FILE } from '../../../../src/operations/discard/lock.js';
import { JOB, metadataNaming } from '../../../support/discard-tree.js';
import { discardUnderLock } from '../../../support/discard-until-killed.js';
import { repoRoot } from '../../../support/paths.js';
import { tempDirectory } from '../../../support/temp.js';

const OWN_FILES = 24;
const SHARED_FILES = 6;

interface Tree {
  readonly root: string;
  readonly pointer: string;
  readonly own: readonly string[];
  readonly shared: readonly string[];
  readonly others: readonly string[];
}

/** A checkpoint of 30 files, and another one that shares files with it. */
async function makeTree(root: string): Promise<Tree> {
  const job = join(root, JOB);
  const pointer = join(job, 'chk-1');
  const other = join(job, 'chk-2');
  const sharedPath = (index: number) => join(job, 'shared', `shared-${index}`);
  for (const directory of [pointer, other, join(job, 'shared')]) await mkdir(directory, { recursive: true });
  const own = Array.from({ length: OWN_FILES }, (_, index) => join(pointer, `state-${index}`));
  const shared = Array.from({ length: SHARED_FILES }, (_, index) => sharedPath(index));
  const both = [sharedPath(100), sharedPath(101)];
  const others = [...both, join(other, 'state'), join(other, '_metadata')];
  for (const file of [...own, ...shared, ...both, join(other, 'state')]) await writeFile(file, 'data');
  const names = own.map((path) => path.slice(pointer.length + 1));
  await writeFile(join(pointer, '_metadata'), metadataNaming([...names, ...shared, ...both], 1n));
  await writeFile(join(other, '_metadata'), metadataNaming(['state', ...both], 2n));
  return { root, pointer, own, shared, others };
}

/** @returns whether the process was killed */
async function discardUntilKilled({ pointer }: Tree, changes: string): Promise<boolean> {
  const script = join(repoRoot(), 'test', 'support', 'discard-until-killed.ts');
  const result = await execa(process.execPath, ['--import', 'tsx', script, pointer, changes], { reject: false });
  if (result.signal !== 'SIGKILL') expect(result.stderr).toBe('');
  return result.signal === 'SIGKILL';
}

function expectSound({ pointer, own, shared, others }: Tree, when: string): void {
  for (const path of others) expect(existsSync(path), path).toBe(true);
  if (existsSync(join(pointer, '_metadata'))) {
    // Complete: whoever restores from it needs everything.
    for (const path of [...own, ...shared]) expect(existsSync(path), path).toBe(true);
  } else if ([...own, ...shared].some((path) => existsSync(path))) {
    expect(existsSync(join(pointer, '_metadata.discarding')), `tombstone ${when}`).toBe(true);
  }
}

it('can be killed after any change: the next run finishes, and nothing that another checkpoint names is gone', async () => {
  const base = await tempDirectory();
  const plain = createFileSystems({ configuration: new Map() });
  // Lock, rename, 30 files, a look whether the directory may go, tombstone, directory, lock.
  const changes = OWN_FILES + SHARED_FILES + 6;
  const points = ['rename', ...Array.from({ length: changes + 1 }, (_, count) => `${count}`)];
  const killed = await pMap(
    points,
    async (point) => {
      const tree = await makeTree(join(base, point));
      const wasKilled = await discardUntilKilled(tree, point);
      expectSound(tree, `after ${point} changes`);
      const result = await discardUnderLock(plain, tree.pointer);
      if (result) expect(result).toMatchObject({ done: true, failures: [] });
      expectSound(tree, `after the second run, killed after ${point} changes`);
      expect(existsSync(tree.pointer), `${tree.pointer} after ${point}`).toBe(false);
      for (const path of tree.shared) expect(existsSync(path), path).toBe(false);
      // A lock that was left when all was done stays for the next run to take over.
      if (result) expect(await readdir(tree.root)).not.toContain(LOCK_FILE);
      return wasKilled;
    },
    { concurrency: 3 },
  );
  // The last one was not killed: every change there is has been tried.
  expect(killed).toEqual([...points.slice(1).map(() => true), false]);
}, 300_000);
