import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { type CaseCopy, copyOfCase } from '../support/case-copy.js';
import { binPath } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

/** What real Flink has left of a job with two checkpoints; what it leaves after a crash is added. */
const CASE = 'flink-2.3.0/rocksdb-incremental';

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into without types
type Json = any;

interface Copy extends CaseCopy {
  /** Arguments that every call needs. */
  readonly args: readonly string[];
  readonly leftovers: readonly string[];
  readonly unnamedTaskowned: readonly string[];
}

async function crashed(): Promise<Copy> {
  const copy = await copyOfCase(CASE);
  const names = (directory: string, count: number): string[] =>
    Array.from({ length: count }, () => `${copy.job}/${directory}/${randomUUID()}`);
  const leftovers = [...names('chk-999', 8), ...names('shared', 10)].sort();
  const unnamedTaskowned = names('taskowned', 2);
  for (const path of [...leftovers, ...unnamedTaskowned]) {
    await mkdir(join(copy.root, path, '..'), { recursive: true });
    await writeFile(join(copy.root, path), 'left');
  }
  return { ...copy, leftovers, unnamedTaskowned, args: ['gc', copy.root, ...copy.map, '--min-age', '0s'] };
}

async function json(args: readonly string[], expected = 0): Promise<Json> {
  const { stdout, stderr, exitCode } = await runCkpt([...args, '--json']);
  expect([exitCode, stderr]).toEqual([expected, expect.anything()]);
  return JSON.parse(stdout);
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)).sort();
}

describe('ckpt gc without --delete', () => {
  it('says what nobody names, how much it is, and changes nothing', async () => {
    const { root, args, original, leftovers, unnamedTaskowned } = await crashed();
    const before = await snapshotOf(root);
    const document = await json(args);
    expect(document.roots).toEqual([original]);
    expect(document.unreferenced.map(({ path }: Json) => path.slice(original.length + 1)).sort()).toEqual(
      [...leftovers].sort(),
    );
    for (const { path, bytes, kind, modified } of document.unreferenced) {
      const { size, mtimeMs } = await stat(join(root, path.slice(original.length)));
      expect([bytes, modified]).toEqual([size, new Date(Math.floor(mtimeMs)).toISOString()]);
      expect(kind).toBe(path.includes('/shared/') ? 'shared' : 'incomplete-checkpoint');
    }
    const bytes = document.unreferenced.reduce((sum: number, entry: Json) => sum + entry.bytes, 0);
    expect(document.totals).toEqual({ files: leftovers.length, bytes });
    expect(document.taskowned).toHaveLength(unnamedTaskowned.length);
    expect(document).toMatchObject({ spared: [], blocked: [], failed: [], deletedFiles: 0, deletedBytes: 0 });
    expect(await snapshotOf(root)).toEqual(before);
  });

  it('prints one object a line', async () => {
    const { args, leftovers, unnamedTaskowned } = await crashed();
    const { stdout, exitCode } = await runCkpt([...args, '--jsonl']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(exitCode).toBe(0);
    expect(lines.filter(({ kind }) => kind !== undefined)).toHaveLength(leftovers.length);
    expect(lines.filter(({ record }) => record === 'taskowned')).toHaveLength(unnamedTaskowned.length);
    expect(lines.at(-1)).toMatchObject({ record: 'summary', totals: { files: leftovers.length } });
  });

  it('shows the largest groups, and every file if asked', async () => {
    const { args, job } = await crashed();
    const { stdout } = await runCkpt(args);
    expect(stdout).toMatch(/^18 files, 72 B, that no metadata names/);
    expect(stdout).toContain(`${job}/chk-999\n`);
    expect(stdout).toContain('Nothing was changed');
    expect(stdout.split('\n').length).toBeLessThan(20);
    const verbose = await runCkpt([...args, '--verbose']);
    expect(verbose.stdout.split('\n').length).toBeGreaterThan(25);
  });

  it('spares what is younger than a day', async () => {
    const { root, map } = await crashed();
    const document = await json(['gc', root, ...map]);
    expect(document.unreferenced).toEqual([]);
    expect(new Set(document.spared.map(({ reason }: Json) => reason))).toEqual(new Set(['young']));
  });

  it('finds no garbage in the output of a sink', async () => {
    const { root, map, path } = await copyOfCase(CASE);
    const files = [`2026-11-30--12/.part-${randomUUID()}-0.inprogress.${randomUUID()}`, 'shared/part-0', randomUUID()];
    for (const name of files) {
      await mkdir(join(path('output', name), '..'), { recursive: true });
      await writeFile(path('output', name), 'x');
    }
    const document = await json(['gc', root, ...map, '--min-age', '0s']);
    expect([document.unreferenced, document.blocked, document.spared]).toEqual([[], [], []]);
  });
});

describe('ckpt gc --delete', () => {
  it('deletes what it has shown, logs it, and leaves checkpoints that are whole', async () => {
    const { root, args, map, original, leftovers } = await crashed();
    const before = await filesIn(root);
    const log = join(await tempDirectory(), 'log');
    const { stdout, exitCode } = await runCkpt([...args, '--delete', '--yes', '--log', log]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/18 files, .*that no metadata names[\s\S]*Done: 18 files deleted/);
    expect(await filesIn(root)).toEqual(before.filter((path) => !leftovers.includes(path)));
    const logged = (await readFile(log, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(logged.map(({ action, path }) => [action, path]).sort()).toEqual(
      leftovers.map((path) => ['deleted', `${original}/${path}`]).sort(),
    );
    expect((await runCkpt(['verify', root, ...map])).exitCode).toBe(0);
    expect((await json(args)).unreferenced).toEqual([]);
  });

  it('tells in the document what it has done', async () => {
    const { args, leftovers } = await crashed();
    const document = await json([...args, '--delete', '--yes']);
    expect(document).toMatchObject({ deletedFiles: leftovers.length, deletedBytes: document.totals.bytes, failed: [] });
  });

  it('takes the files that no state names, and what is empty then, only if asked', async () => {
    const { root, args, job } = await crashed();
    await mkdir(join(root, job, 'chk-9'));
    const document = await json([...args, '--delete', '--yes', '--taskowned', '--empty-directories']);
    expect([document.deletedFiles, document.deletedDirectories]).toEqual([20, 3]);
    expect((await readdir(join(root, job))).filter((name) => !/^chk-[1-5]$/.test(name))).toEqual(['shared']);
  });

  it('refuses without a terminal to ask on, and changes nothing', async () => {
    const { root, args } = await crashed();
    const before = await snapshotOf(root);
    const { exitCode, stderr } = await runCkpt([...args, '--delete']);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining('--yes')]);
    expect(await snapshotOf(root)).toEqual(before);
  });

  it('stops after the plan with --dry-run', async () => {
    const { root, args } = await crashed();
    const before = await snapshotOf(root);
    expect((await json([...args, '--delete', '--yes', '--dry-run'])).deletedFiles).toBe(0);
    expect(await snapshotOf(root)).toEqual(before);
  });

  it.runIf(hasTerminal)('asks on a terminal, after what it is about', async () => {
    const { root, args, leftovers } = await crashed();
    const command = [process.execPath, binPath(), ...args, '--delete'];
    const before = await filesIn(root);
    const refused = await runInTerminal(command, { type: { after: '[y/N]', keys: 'n\r' } });
    expect(refused.exitCode).toBe(5);
    const { screen } = refused;
    expect(screen.indexOf('that no metadata names')).toBeGreaterThanOrEqual(0);
    expect(screen.indexOf('that no metadata names')).toBeLessThan(screen.indexOf('Delete these 18 files?'));
    expect(await filesIn(root)).toEqual(before);
    const agreed = await runInTerminal(command, { type: { after: '[y/N]', keys: 'y\r' } });
    expect(agreed.exitCode).toBe(0);
    expect(await filesIn(root)).toHaveLength(before.length - leftovers.length);
  });

  it('moves away with the same layout, so that it can be moved back', async () => {
    const { root, args, leftovers } = await crashed();
    const before = await filesIn(root);
    const trash = join(await tempDirectory(), 'trash');
    expect((await runCkpt([...args, '--move-to', trash, '--yes'])).exitCode).toBe(0);
    expect(await filesIn(trash)).toEqual([...leftovers].sort());
    for (const path of leftovers) await copyFile(join(trash, path), join(root, path));
    expect(await filesIn(root)).toEqual(before);
  });

  it.each([
    ['inside the root', (root: string) => join(root, 'trash')],
    ['above the root', (root: string) => join(root, '..')],
    ['as the root', (root: string) => root],
  ])('does not move to a place %s', async (_what, place) => {
    const { root, args } = await crashed();
    const before = await snapshotOf(root);
    expect((await runCkpt([...args, '--move-to', place(root), '--yes'])).exitCode).toBe(5);
    expect(await snapshotOf(root)).toEqual(before);
  });

  it('does not run while another run holds the directory', async () => {
    const { root, args } = await crashed();
    const holder = { host: 'elsewhere', pid: 1, time: '2026-01-01T00:00:00Z', command: 'discard', pointers: [] };
    await writeFile(join(root, '.ckpt-lock'), JSON.stringify(holder));
    const refused = await runCkpt([...args, '--delete', '--yes']);
    expect([refused.exitCode, refused.stderr]).toEqual([5, expect.stringContaining('discard')]);
    expect((await runCkpt([...args, '--delete', '--yes', '--break-lock'])).exitCode).toBe(0);
    expect(existsSync(join(root, '.ckpt-lock'))).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)('goes on when a file cannot be deleted, and says which', async () => {
    const { root, args, job } = await crashed();
    const shared = join(root, job, 'shared');
    // Even root may not remove an entry of a directory that is marked as immutable; not every file system has that.
    const mark = async (flag: string): Promise<boolean> =>
      (await execa('sh', ['-c', `chattr ${flag} "$0"`, shared], { reject: false })).exitCode === 0;
    if (!(await mark('+i'))) return;
    try {
      const document = await json([...args, '--delete', '--yes'], 1);
      expect([document.deletedFiles, document.failed.length]).toEqual([8, 10]);
      expect(document.failed[0]).toEqual({ path: expect.stringContaining('/shared/'), message: expect.any(String) });
    } finally {
      await mark('-i');
    }
  });
});

describe('ckpt gc, blocked', () => {
  it('names the metadata that it cannot read, and deletes nothing', async () => {
    const { root, args, job, original } = await crashed();
    const metadata = join(root, job, 'chk-2', '_metadata');
    await writeFile(metadata, (await readFile(metadata)).subarray(0, 100));
    const before = await snapshotOf(root);
    const document = await json([...args, '--delete', '--yes'], 5);
    expect(document.blocked).toMatchObject([{ path: `${original}/${job}/chk-2/_metadata`, reason: 'unreadable' }]);
    expect([document.unreferenced, document.totals]).toEqual([[], { files: 0, bytes: 0 }]);
    expect(Object.keys(await snapshotOf(root))).toEqual(Object.keys(before));
    const { stdout } = await runCkpt(args);
    expect(stdout).toContain(`${job}/chk-2/_metadata (unreadable)`);
    const dead = await json([...args, '--assume-dead', join(root, job, 'chk-2')]);
    expect(dead.blocked).toEqual([]);
    expect(dead.spared).toContainEqual({ path: `${original}/${job}/chk-2`, reason: 'assumed-dead' });
  });

  it('asks for --map in a copy', async () => {
    const { root, job } = await crashed();
    const { stdout, exitCode } = await runCkpt(['gc', root, '--min-age', '0s']);
    expect(exitCode).toBe(5);
    expect(stdout).toContain(`${job}/chk-2 (other-name)`);
    expect(stdout).toContain('--map');
  });

  it('blocks when a file of a checkpoint is gone', async () => {
    const { root, args, job, map } = await crashed();
    const { stdout } = await runCkpt(['dump', join(root, job, 'chk-3'), ...map]);
    const needed = /shared\/[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '';
    await rm(join(root, job, needed));
    expect((await json(args, 5)).blocked).toEqual(
      expect.arrayContaining([expect.objectContaining({ reason: 'files-missing' })]),
    );
  });
});

describe('plans of ckpt gc', () => {
  it('are carried out as they were made', async () => {
    const { root, args, map, leftovers } = await crashed();
    const plan = join(await tempDirectory(), 'plan.json');
    const before = await filesIn(root);
    await json([...args, '--plan-out', plan]);
    expect(JSON.parse(await readFile(plan, 'utf8')).plan.delete).toHaveLength(leftovers.length);
    const document = await json(['gc', ...map, '--plan', plan, '--yes']);
    expect(document.deletedFiles).toBe(leftovers.length);
    expect(await filesIn(root)).toEqual(before.filter((path) => !leftovers.includes(path)));
  });

  it.each([
    ['a file has come', (root: string, job: string) => writeFile(join(root, job, 'chk-999', 'new'), 'x')],
    ['a file is gone', (root: string, job: string) => rm(join(root, job, 'chk-999'), { recursive: true })],
    ['metadata has changed', (root: string, job: string) => utimes(join(root, job, 'chk-2', '_metadata'), 1, 1)],
    ['a checkpoint is gone', (root: string, job: string) => rm(join(root, job, 'chk-2'), { recursive: true })],
  ])('are refused when %s', async (_what, change) => {
    const { root, args, map, job } = await crashed();
    const plan = join(await tempDirectory(), 'plan.json');
    await json([...args, '--plan-out', plan]);
    await change(root, job);
    const before = await filesIn(root);
    expect((await runCkpt(['gc', ...map, '--plan', plan, '--yes'])).exitCode).toBe(5);
    expect(await filesIn(root)).toEqual(before);
  });

  it('of other commands, and other files, are refused as wrong use', async () => {
    const { args } = await crashed();
    const directory = await tempDirectory();
    for (const [name, text] of [
      ['none', 'no plan'],
      ['other', JSON.stringify({ format: 'ckpt-plan', formatVersion: 1, command: 'discard' })],
      ['newer', JSON.stringify({ format: 'ckpt-plan', formatVersion: 99, command: 'gc' })],
    ] as const) {
      await writeFile(join(directory, name), text);
      expect((await runCkpt([...args, '--plan', join(directory, name), '--yes'])).exitCode).toBe(2);
    }
    expect((await runCkpt([...args, '--plan', join(directory, 'absent'), '--yes'])).exitCode).toBe(2);
  });
});

describe('the command line of ckpt gc', () => {
  it.each([
    ['no root', ['gc'], 2],
    ['a root that does not exist', ['gc', '/does/not/exist'], 3],
    ['a duration without a unit', ['gc', '/tmp', '--min-age', '5'], 2],
    ['two ways to go', ['gc', '/tmp', '--delete', '--move-to', '/x'], 2],
    ['a scheme that nobody knows', ['gc', 'gopher://x/y'], 3],
  ])('with %s', async (_what, args, expected) => {
    expect((await runCkpt(args)).exitCode).toBe(expected);
  });

  it('takes a file for no root, and a place that does not exist for no user', async () => {
    const { args, root, job } = await crashed();
    expect((await runCkpt(['gc', join(root, job, 'chk-2', '_metadata')])).exitCode).toBe(3);
    expect((await runCkpt([...args, '--used-by', join(root, 'absent')])).exitCode).toBe(3);
  });

  it('works on a tree that may not be written', async () => {
    const { root, args, job } = await crashed();
    for (const name of [job, `${job}/chk-2`, `${job}/shared`]) await chmod(join(root, name), 0o555);
    expect((await json(args)).totals.files).toBe(18);
  });
});
