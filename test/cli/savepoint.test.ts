import { readdirSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCkpt } from '../support/run-ckpt.js';
import { tempDirectory } from '../support/temp.js';

const JOB = '4f1a2b3c4d5e6f708192a3b4c5d6e7f8';
const NOBODY = 65534;

describe('ckpt savepoint', () => {
  it('makes a directory, with those above it, and prints its qualified path alone', async () => {
    const base = join(await tempDirectory(), 'new', 'savepoints');
    const { stdout, stderr, exitCode } = await runCkpt(['savepoint', '--job-id', JOB, '--target-directory', base]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const [name = ''] = readdirSync(base);
    expect(name).toMatch(/^savepoint-4f1a2b-[0-9a-f]{12}$/);
    expect(stdout).toBe(`file:${base}/${name}\n`);
    expect(readdirSync(join(base, name))).toEqual([]);
  });

  it('gives a document with the number of attempts, and takes job ids in capitals', async () => {
    const base = await tempDirectory();
    const args = ['savepoint', '--job-id', JOB.toUpperCase(), '--target-directory', `file://${base}/`, '--json'];
    const { stdout, exitCode } = await runCkpt(args);
    expect(exitCode).toBe(0);
    const [name = ''] = readdirSync(base);
    expect(name).toMatch(/^savepoint-4f1a2b-/);
    expect(JSON.parse(stdout)).toEqual({ savepointDirectory: `file:${base}/${name}`, attempts: 1 });
  });

  it('takes the configured directory, by its present and its older name', async () => {
    for (const key of ['execution.checkpointing.savepoint-dir', 'state.savepoints.dir']) {
      const base = await tempDirectory();
      const { exitCode } = await runCkpt(['savepoint', '--job-id', JOB, '-D', `${key}=file://${base}`]);
      expect(exitCode).toBe(0);
      expect(readdirSync(base).length).toBe(1);
      const other = await tempDirectory();
      await runCkpt(['savepoint', '--job-id', JOB, '-D', `${key}=${base}`, '--target-directory', other]);
      expect(readdirSync(other).length).toBe(1);
    }
  });

  it('takes a directory relative to the working directory', async () => {
    const cwd = await tempDirectory();
    const { stdout } = await runCkpt(['savepoint', '--job-id', JOB, '--target-directory', 'here'], { cwd });
    expect(stdout).toMatch(new RegExp(`^file:${cwd}/here/savepoint-`));
  });

  it('gives 50 directories to 50 at once', async () => {
    const base = await tempDirectory();
    const args = ['savepoint', '--job-id', JOB, '--target-directory', join(base, 'new')];
    const results = await Promise.all(Array.from({ length: 50 }, () => runCkpt(args)));
    expect(results.every(({ exitCode }) => exitCode === 0)).toBe(true);
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(50);
    expect(readdirSync(join(base, 'new')).length).toBe(50);
  });

  it.each([
    ['no job id', []],
    ['a job id of 31 digits', ['--job-id', JOB.slice(1)]],
    ['a job id of other letters', ['--job-id', `${JOB.slice(1)}g`]],
    ['no directory', ['--job-id', JOB]],
    ['an empty directory', ['--job-id', JOB, '--target-directory', '']],
  ])('is exit 2 with %s', async (_what, args) => {
    const base = await tempDirectory();
    const { stdout, stderr, exitCode } = await runCkpt(['savepoint', ...args], { cwd: base });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toMatch(/^ckpt: .+\n/);
    expect(readdirSync(base)).toEqual([]);
  });

  it('is exit 1 if ten attempts fail, and tells them: the base is a file, or may not be written to', async () => {
    const base = await tempDirectory();
    await writeFile(join(base, 'file'), '');
    const args = ['savepoint', '--job-id', JOB, '--json', '--target-directory'];
    const onFile = await runCkpt([...args, join(base, 'file')]);
    expect(onFile.exitCode).toBe(1);
    const { error } = JSON.parse(onFile.stdout);
    expect(error).toMatchObject({ code: 'SAVEPOINT_DIRECTORY', data: { base: `file:${base}/file`, attempts: 10 } });
    expect(error.causes[0]).toContain(`${base}/file`);
    expect(error.suppressed.length).toBe(9);
    if (process.getuid?.() !== 0) return;
    await chmod(base, 0o755);
    await mkdir(join(base, 'closed'), { mode: 0o755 });
    const denied = await runCkpt([...args, join(base, 'closed')], { uid: NOBODY });
    expect({ exitCode: denied.exitCode, stdout: denied.stdout }).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('permission denied'),
    });
  });

  it('is exit 3 for a store that is not known', async () => {
    const { exitCode, stderr } = await runCkpt(['savepoint', '--job-id', JOB, '--target-directory', 'nosuch://x/y']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('nosuch') });
  });
});
