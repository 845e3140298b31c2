import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureCase } from '../support/corpus.js';
import { checkpointAt, metadata, operator } from '../support/made-metadata.js';
import { binPath } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const JOB = 'aaaaaaaa000000000000000000000001';
const OTHER_JOB = 'bbbbbbbb000000000000000000000002';
const at = (checkpointId: number): Uint8Array =>
  metadata({ checkpointId: BigInt(checkpointId), operatorStates: [operator({ name: 'Window', uid: 'w' })] });

/** Two jobs, of which the second was written last; chk-10 of the first is empty. */
async function twoJobs(): Promise<string> {
  const root = await tempDirectory();
  for (const id of [2, 9]) await checkpointAt(join(root, JOB, `chk-${id}`), at(id));
  await mkdir(join(root, JOB, 'chk-10'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await checkpointAt(join(root, OTHER_JOB, 'chk-3'), at(3));
  return root;
}

describe('ckpt list', () => {
  it('prints one document with every field of the contract', async () => {
    const root = await twoJobs();
    const { stdout, stderr, exitCode } = await runCkpt(['list', '--json', root]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const { roots, entries, jobs } = JSON.parse(stdout);
    expect(roots).toEqual([`file:${root}`]);
    expect(entries.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      `file:${root}/${JOB}/chk-2`,
      `file:${root}/${JOB}/chk-9`,
      `file:${root}/${JOB}/chk-10`,
      `file:${root}/${OTHER_JOB}/chk-3`,
    ]);
    expect(entries[0]).toMatchObject({
      jobId: JOB,
      jobIdPrefix: null,
      kind: 'checkpoint',
      checkpointId: 2,
      status: 'complete',
      version: 6,
      metadataBytes: at(2).length,
      totalBytes: null,
      exclusiveBytes: null,
      operatorNames: null,
      error: null,
    });
    expect(entries[2]).toMatchObject({ status: 'in-progress', checkpointId: 10, metadataBytes: null });
    expect(jobs).toMatchObject([
      { jobId: JOB, complete: 2, inProgress: 1, newest: `file:${root}/${JOB}/chk-9` },
      { jobId: OTHER_JOB, complete: 1 },
    ]);
    const sized = JSON.parse((await runCkpt(['ls', '--json', '--sizes', '--min-age', '0s', root])).stdout).entries;
    expect(sized[0]).toMatchObject({
      totalBytes: at(2).length,
      exclusiveBytes: at(2).length,
      operatorNames: ['Window'],
    });
    expect(sized[2]).toMatchObject({ status: 'incomplete', totalBytes: 0, exclusiveBytes: 0, operatorNames: null });
  });

  it('streams lines of JSON, with and without sizes, in an order when asked', async () => {
    const root = await twoJobs();
    const lines = async (...args: string[]): Promise<{ pointer: string; totalBytes: number | null }[]> => {
      const { stdout, exitCode } = await runCkpt(['list', '--jsonl', root, ...args]);
      expect(exitCode).toBe(0);
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    };
    expect((await lines()).map(({ pointer }) => pointer).sort()).toEqual(
      [`${JOB}/chk-10`, `${JOB}/chk-2`, `${JOB}/chk-9`, `${OTHER_JOB}/chk-3`].map((path) => `file:${root}/${path}`),
    );
    expect((await lines('--sizes')).map(({ totalBytes }) => totalBytes !== null)).toEqual([true, true, true, true]);
    expect((await lines('--complete', '--sort', 'time'))[0]?.pointer).toBe(`file:${root}/${OTHER_JOB}/chk-3`);
    expect(await lines('--latest')).toHaveLength(1);
  });

  it('prints one pointer alone with --latest: not the empty one, of the job written last or the one asked for', async () => {
    const root = await twoJobs();
    const latest = await runCkpt(['list', '--latest', root]);
    expect(latest).toMatchObject({ stdout: `file:${root}/${OTHER_JOB}/chk-3\n`, exitCode: 0 });
    expect(latest.stderr).toContain(`several jobs; file:${root}/${OTHER_JOB}/chk-3 was written last`);
    expect(latest.stderr).toContain(`${JOB}/chk-9`);
    expect(await runCkpt(['list', '--latest', root, '--job', 'AAAA'])).toMatchObject({
      stdout: `file:${root}/${JOB}/chk-9\n`,
      stderr: '',
      exitCode: 0,
    });
    const document = JSON.parse((await runCkpt(['list', '--latest', '--json', '-q', root])).stdout);
    expect(document.entries).toMatchObject([{ pointer: `file:${root}/${OTHER_JOB}/chk-3` }]);
  });

  it('exits with 3 where there is nothing to restart from, or no such directory', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, JOB, 'chk-1'), { recursive: true });
    const none = await runCkpt(['list', '--latest', '--json', root]);
    expect(none.exitCode).toBe(3);
    expect(JSON.parse(none.stdout).error).toMatchObject({ code: 'NO_CHECKPOINT' });
    const missing = await runCkpt(['list', '--json', join(root, 'nowhere')]);
    expect(missing.exitCode).toBe(3);
    expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    const half = await runCkpt(['list', '--json', root, join(root, 'nowhere')]);
    expect(half.exitCode).toBe(3);
    expect(half.stderr).toContain(`ckpt: file:${root}/nowhere: no such file or directory\n`);
    expect(JSON.parse(half.stdout)).toMatchObject({
      entries: [{ status: 'in-progress' }],
      failed: [{ path: `file:${root}/nowhere`, error: { code: 'NOT_FOUND' } }],
    });
    await writeFile(join(root, 'file'), '');
    expect((await runCkpt(['list', join(root, 'file')])).exitCode).toBe(3);
  });

  it('exits with 1 where something is broken, in the row and not in the way of the others', async () => {
    const root = await twoJobs();
    await checkpointAt(join(root, JOB, 'chk-9'), Buffer.from('no metadata'));
    const { stdout, exitCode } = await runCkpt(['list', '--json', root]);
    expect(exitCode).toBe(1);
    const { entries } = JSON.parse(stdout);
    expect(entries).toHaveLength(4);
    expect(entries.find((entry: { checkpointId: number }) => entry.checkpointId === 9)).toMatchObject({
      pointer: `file:${root}/${JOB}/chk-9`,
      status: 'broken',
      error: { code: 'NOT_FLINK_METADATA', message: expect.stringContaining('chk-9/_metadata'), causes: [] },
    });
    const text = await runCkpt(['list', root]);
    expect(text.exitCode).toBe(1);
    expect(text.stdout).toMatch(/9 +checkpoint +broken .*not a Flink metadata file/);
    const complete = await runCkpt(['list', root, '--complete']);
    expect(complete.stdout).not.toContain('chk-9');
    expect(complete).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('one more could not be read') });
    const latest = await runCkpt(['list', '--latest', '--job', JOB, root]);
    expect(latest).toMatchObject({ stdout: `file:${root}/${JOB}/chk-2\n`, exitCode: 0 });
    expect(latest.stderr).toContain('could not be read and may hold newer ones');
  });

  it('takes the configured directories if none is given', async () => {
    const root = await twoJobs();
    const { stdout } = await runCkpt(['list', '--latest', '-q', '-D', `state.checkpoints.dir=${root}/${JOB}`]);
    expect(stdout).toBe(`file:${root}/${JOB}/chk-9\n`);
    const both = [
      '-D',
      `execution.checkpointing.dir=${root}/${JOB}`,
      '-D',
      `state.savepoints.dir=${root}/${OTHER_JOB}`,
    ];
    expect(JSON.parse((await runCkpt(['list', '--json', ...both])).stdout).entries).toHaveLength(4);
    expect(await runCkpt(['list'])).toMatchObject({
      stderr: "ckpt: missing argument 'root', and no directory is configured\n",
      exitCode: 2,
    });
  });

  it.each([
    [['--sort', 'size'], '--sort size needs sizes: it goes with --sizes'],
    [['--sort', 'colour'], '--sort'],
    [['--min-age', '15'], '"15" is not a duration'],
    [['--job', 'xyz'], '"xyz" is not a job id'],
  ])('%j is wrong use', async (args, message) => {
    const { exitCode, stderr, stdout } = await runCkpt(['list', '.', ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('names paths as the metadata does with --map, whichever of the two is given', async () => {
    const { mapping, directory } = fixtureCase('flink-2.3.0/rocksdb-incremental');
    for (const root of [mapping.uri, directory]) {
      const { stdout, exitCode } = await runCkpt(['list', '--json', '--map', `${mapping.uri}=${directory}`, root]);
      expect(exitCode).toBe(0);
      const { roots, entries } = JSON.parse(stdout);
      expect(roots).toEqual([mapping.uri]);
      for (const { pointer } of entries) expect(pointer.startsWith(`${mapping.uri}/`)).toBe(true);
    }
  });

  it.skipIf(!hasTerminal)('fits into 80 columns and never breaks the name of a checkpoint', async () => {
    const root = await twoJobs();
    await checkpointAt(join(root, 'savepoint-aaaaaa-0123456789ab'), at(4));
    await checkpointAt(join(root, JOB, 'chk-9'), Buffer.from('no metadata'));
    for (const args of [[], ['--sizes'], ['--sort', 'time']]) {
      const { screen: stdout } = await runInTerminal([
        process.execPath,
        binPath(),
        'list',
        '-q',
        '--no-color',
        root,
        ...args,
      ]);
      const lines = stdout.split('\n');
      expect(lines.filter((line) => line.length > 80 && !line.includes(root))).toEqual([]);
      for (const name of ['chk-2', 'chk-10', 'savepoint-aaaaaa-0123456789ab']) expect(stdout).toContain(name);
    }
  });

  it('shows a directory name with escapes in the table, and to a script as it is', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, 'a\u001b[2Jb'), at(1));
    expect((await runCkpt(['list', root])).stdout).toContain('a\\x1b[2Jb');
    expect((await runCkpt(['list', '--latest', root])).stdout).toBe(`file:${root}/a\u001b[2Jb\n`);
  });

  it('changes nothing, not even the time of an access', async () => {
    const root = await twoJobs();
    const before = await snapshotOf(root);
    await runCkpt(['list', root]);
    await runCkpt(['list', '--sizes', root]);
    await runCkpt(['diff', join(root, JOB, 'chk-2'), join(root, JOB, 'chk-9')]);
    expect(await snapshotOf(root)).toEqual(before);
  });
});
