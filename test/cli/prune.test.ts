import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseCopy, copyOfCase } from '../support/case-copy.js';
import {
  checkpointAt,
  file,
  incremental,
  metadata,
  operator,
  relativeFile,
  subtask,
} from '../support/made-metadata.js';
import { runCkpt } from '../support/run-ckpt.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const JOB = 'aaaaaaaa000000000000000000000001';
const OTHER_JOB = 'bbbbbbbb000000000000000000000002';

/** `chk-<id>` of a job, with a file of its own, and these files of `shared/`. */
async function checkpoint(root: string, job: string, id: number, ...shared: readonly string[]): Promise<string> {
  const directory = join(root, job, `chk-${id}`);
  const handles = [
    relativeFile('own', 4),
    ...shared.map((name) => file(`file:${join(root, name.includes('/') ? name : `${job}/shared/${name}`)}`, 4)),
  ];
  const operatorStates = [operator({ subtasks: [subtask({ managedKeyedState: incremental(handles) })] })];
  await checkpointAt(directory, metadata({ checkpointId: BigInt(id), operatorStates }));
  await writeFile(join(directory, 'own'), 'data');
  await mkdir(join(root, job, 'shared'), { recursive: true });
  for (const name of shared) if (!name.includes('/')) await writeFile(join(root, job, 'shared', name), 'data');
  return directory;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Five checkpoints of one job: `b` is shared by all that follow the first, each has a file of its own. */
async function fiveCheckpoints(): Promise<string> {
  const root = await tempDirectory();
  for (const id of [8, 9, 10, 11, 12]) await checkpoint(root, JOB, id, `only-${id}`, ...(id > 8 ? ['b'] : []));
  return root;
}

describe('ckpt prune', () => {
  it('discards what is beyond the newest N with one plan, and keeps what those need', async () => {
    const root = await fiveCheckpoints();
    const { stdout, stderr, exitCode } = await runCkpt(['prune', root, '--keep', '2', '--yes', '--json']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const document = JSON.parse(stdout);
    expect(document.pointers).toEqual(
      [8, 9, 10].map((id) => ({ pointer: `file:${root}/${JOB}/chk-${id}`, error: null })),
    );
    expect(document).toMatchObject({ done: true, deletedFiles: 9, alreadyGone: 0, error: null, suppressed: [] });
    expect(document.plan.keep).toMatchObject([{ path: `file:${root}/${JOB}/shared/b`, reason: 'used-by-other' }]);
    expect(document.retained).toEqual([
      { pointer: `file:${root}/${JOB}/chk-11`, reason: 'keep' },
      { pointer: `file:${root}/${JOB}/chk-12`, reason: 'newest' },
    ]);
    for (const id of [8, 9, 10]) {
      expect(await exists(join(root, JOB, `chk-${id}`))).toBe(false);
      expect(await exists(join(root, JOB, 'shared', `only-${id}`))).toBe(false);
    }
    const verified = await runCkpt(['verify', root]);
    expect(verified.exitCode).toBe(0);
  });

  it('changes nothing in a dry run, and nothing without a terminal or --yes', async () => {
    const root = await fiveCheckpoints();
    const before = await snapshotOf(join(root, JOB));
    const dry = await runCkpt(['prune', root, '--keep', '1', '--dry-run']);
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toMatch(/^ *4 +1 +chk-12 /m);
    const refused = await runCkpt(['prune', root, '--keep', '1']);
    expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('--yes') });
    expect(await snapshotOf(join(root, JOB))).toEqual(before);
  });

  it('does nothing where there is nothing to do, with exit 0', async () => {
    const root = await fiveCheckpoints();
    const { stdout, exitCode } = await runCkpt(['prune', root, '--keep', '5']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Nothing to discard');
    const document = JSON.parse((await runCkpt(['prune', root, '--keep', '5', '--json'])).stdout);
    expect(document).toMatchObject({ pointers: [], plan: { delete: [], keep: [] }, done: true, deletedFiles: 0 });
    expect((await runCkpt(['prune', await tempDirectory(), '--keep', '1'])).stdout).toBe(
      'No complete checkpoints, nothing to discard.\n',
    );
  });

  it('takes what is older, and with both what neither keeps', async () => {
    const root = await fiveCheckpoints();
    for (const [id, days] of [
      [8, 9],
      [9, 8],
      [10, 7.5],
      [11, 1],
    ] as const) {
      const time = new Date(Date.now() - days * 86_400_000);
      await utimes(join(root, JOB, `chk-${id}`, '_metadata'), time, time);
    }
    const pointers = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await runCkpt(['prune', root, '--dry-run', '--json', ...args]);
      return JSON.parse(stdout).pointers.map(({ pointer }: { pointer: string }) => pointer.split('-').at(-1));
    };
    expect(await pointers('--older-than', '7d')).toEqual(['8', '9', '10']);
    expect(await pointers('--older-than', '7d', '--keep', '4')).toEqual(['8']);
    expect(await pointers('--older-than', '0s')).toEqual(['8', '9', '10', '11']);
  });

  it('keeps jobs apart, and savepoints from checkpoints', async () => {
    const root = await fiveCheckpoints();
    await checkpoint(root, OTHER_JOB, 1);
    for (const [name, id] of [
      ['savepoint-aaaaaa-000000000001', 1],
      ['savepoint-aaaaaa-000000000002', 2],
      ['savepoint-bbbbbb-000000000003', 3],
    ] as const) {
      await checkpointAt(join(root, 'savepoints', name), metadata({ checkpointId: BigInt(id) }));
    }
    const prune = async (...args: string[]): Promise<string[]> => {
      const { stdout, exitCode } = await runCkpt(['prune', root, '--keep', '1', '--json', ...args]);
      expect(exitCode).toBe(0);
      return JSON.parse(stdout).pointers.map(({ pointer }: { pointer: string }) => pointer.slice(root.length + 6));
    };
    expect(await prune('--dry-run')).toEqual([8, 9, 10, 11].map((id) => `${JOB}/chk-${id}`));
    expect(await prune('--yes', '--savepoints', '--job-stopped')).toEqual(['savepoints/savepoint-aaaaaa-000000000001']);
    expect(await exists(join(root, JOB, 'chk-8'))).toBe(true);
    expect(await exists(join(root, 'savepoints', 'savepoint-bbbbbb-000000000003'))).toBe(true);
  });

  it('takes the newest only with --keep 0 --force, and of a running job not even then', async () => {
    const root = await fiveCheckpoints();
    const refused = await runCkpt(['prune', root, '--keep', '0', '--yes']);
    expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('--force') });
    const running = await runCkpt(['prune', root, '--keep', '0', '--force', '--yes']);
    expect(running).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('chk-12') });
    expect(await exists(join(root, JOB, 'chk-8', '_metadata'))).toBe(true);
    const all = await runCkpt(['prune', root, '--keep', '0', '--force', '--yes', '--job-stopped']);
    expect(all.exitCode).toBe(0);
    for (const id of [8, 9, 10, 11, 12]) expect(await exists(join(root, JOB, `chk-${id}`))).toBe(false);
  });

  it('given the directory of a job, keeps the files that another job uses', async () => {
    const root = await fiveCheckpoints();
    await checkpoint(root, OTHER_JOB, 20, `${JOB}/shared/only-8`);
    const { stdout, exitCode } = await runCkpt(['prune', join(root, JOB), '--keep', '1', '--yes', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).plan.keep).toContainEqual(
      expect.objectContaining({
        path: `file:${root}/${JOB}/shared/only-8`,
        usedBy: [`file:${root}/${OTHER_JOB}/chk-20`],
      }),
    );
    expect(await exists(join(root, JOB, 'shared', 'only-8'))).toBe(true);
    expect(await exists(join(root, JOB, 'shared', 'only-9'))).toBe(false);
  });

  it('does not count a broken checkpoint, and refuses while it could use something', async () => {
    const root = await fiveCheckpoints();
    const newest = join(root, JOB, 'chk-12', '_metadata');
    const bytes = await readFile(newest);
    await writeFile(newest, bytes.subarray(0, bytes.length - 20));
    const before = await snapshotOf(join(root, JOB));
    const refused = await runCkpt(['prune', root, '--keep', '1', '--yes']);
    expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('chk-12') });
    expect(await snapshotOf(join(root, JOB))).toEqual(before);
    const own = await runCkpt(['prune', root, '--keep', '1', '--yes', '--json', '--keep-shared']);
    expect(own.exitCode).toBe(0);
    expect(JSON.parse(own.stdout).retained).toEqual([{ pointer: `file:${root}/${JOB}/chk-11`, reason: 'newest' }]);
    expect(await exists(join(root, JOB, 'chk-11', '_metadata'))).toBe(true);
  });

  it('finishes what an interrupted run has left', async () => {
    const root = await fiveCheckpoints();
    const half = join(root, JOB, 'chk-9');
    await rename(join(half, '_metadata'), join(half, '_metadata.discarding'));
    await rm(join(half, 'own'));
    const { stdout, exitCode } = await runCkpt(['prune', root, '--keep', '4', '--yes', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      pointers: [{ pointer: `file:${root}/${JOB}/chk-9` }],
      done: true,
      alreadyGone: 1,
    });
    expect(await exists(half)).toBe(false);
    expect(await exists(join(root, JOB, 'chk-8'))).toBe(true);
  });

  it('saves a plan and carries out exactly that one', async () => {
    const root = await fiveCheckpoints();
    const plan = join(await tempDirectory(), 'plan.json');
    expect((await runCkpt(['prune', root, '--keep', '3', '--dry-run', '--plan-out', plan])).exitCode).toBe(0);
    await checkpoint(root, JOB, 13, 'b');
    const changed = await runCkpt(['prune', '--plan', plan, '--yes']);
    expect(changed).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('changed') });
    await rm(join(root, JOB, 'chk-13'), { recursive: true });
    const done = await runCkpt(['prune', '--plan', plan, '--yes', '--json']);
    expect(done.exitCode).toBe(0);
    expect(JSON.parse(done.stdout).pointers).toHaveLength(2);
    expect(await exists(join(root, JOB, 'chk-10'))).toBe(true);
    expect((await runCkpt(['prune', root, '--plan', plan])).exitCode).toBe(2);
    expect((await runCkpt(['prune', '--plan', plan, '--keep', '1'])).exitCode).toBe(2);
  });

  it.each([[[]], [['.']], [['.', '--keep', '-1']], [['.', '--keep', 'x']], [['.', '--older-than', '7']]])(
    '%j is wrong use',
    async (args) => {
      expect(await runCkpt(['prune', ...args])).toMatchObject({ exitCode: 2, stdout: '' });
    },
  );

  it('exits with 3 for a directory that is not there', async () => {
    const missing = join(await tempDirectory(), 'nowhere');
    expect(await runCkpt(['prune', missing, '--keep', '1', '--yes'])).toMatchObject({ exitCode: 3, stdout: '' });
  });

  it('leaves whole checkpoints of real trees', async () => {
    for (const name of ['rocksdb-incremental', 'file-merging', 'changelog-rocksdb', 'operator-state']) {
      const copy: CaseCopy = await copyOfCase(`flink-2.3.0/${name}`);
      const args = [copy.original, ...copy.map];
      const { exitCode, stderr } = await runCkpt(['prune', ...args, '--keep', '1', '--yes', '--job-stopped']);
      expect({ name, exitCode, stderr }).toEqual({ name, exitCode: 0, stderr: '' });
      const { stdout } = await runCkpt(['list', '--json', ...args]);
      const { jobs, entries } = JSON.parse(stdout);
      expect(entries.filter(({ kind }: { kind: string }) => kind === 'checkpoint')).toHaveLength(
        jobs.filter(({ newest }: { newest: string | null }) => newest?.includes('/chk-')).length,
      );
      expect((await runCkpt(['verify', ...args])).exitCode).toBe(0);
    }
  });
});
