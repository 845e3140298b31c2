import { appendFile, chmod, cp, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { copyOfCase } from '../support/case-copy.js';
import {
  checkpointAt,
  file,
  incremental,
  metadata,
  operator,
  relativeFile,
  subtask,
} from '../support/made-metadata.js';
import { binPath, fixturesDirectory } from '../support/paths.js';
import { type RunCkptOptions, runCkpt } from '../support/run-ckpt.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const ROCKSDB = 'flink-2.3.0/rocksdb-incremental';
const JOB = 'a9bb24628cd66d4aa93ef718aab300a1';
const OTHER_JOB = '0123456789abcdef0123456789abcdef';
const BROKEN = join(fixturesDirectory(), 'broken');

/** What `verify --json` prints, and the exit code. */
async function verified(args: readonly string[], options?: RunCkptOptions) {
  const { stdout, stderr, exitCode } = await runCkpt(['verify', '--json', ...args], options);
  return { document: JSON.parse(stdout), stderr, exitCode };
}

describe('ckpt verify of a pointer', () => {
  it('prints one document with every field of the contract', async () => {
    const { map, original, job } = await copyOfCase(ROCKSDB);
    const pointer = `${original}/${job}/chk-3`;
    const { document, stderr, exitCode } = await verified([...map, pointer]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(document).toMatchObject({ ok: true, deep: false, roots: [], brokenFiles: [], moved: null });
    expect(document.pointers).toEqual([
      {
        pointer,
        metadataPath: `${pointer}/_metadata`,
        ok: true,
        files: 24,
        bytes: expect.any(Number),
        unknownSizes: 0,
        mergedFiles: 0,
        opened: 0,
        warnings: [],
        error: null,
        faults: [],
      },
    ]);
  });

  it('says what it checked and what not, and never that a job will restore', async () => {
    const { map, original, job } = await copyOfCase(ROCKSDB);
    const shallow = await runCkpt(['verify', ...map, `${original}/${job}/chk-3`]);
    expect(shallow).toMatchObject({ stderr: '', exitCode: 0 });
    expect(shallow.stdout).toMatch(/^whole {7}file:\S+chk-3 {2}24 files, /);
    expect(shallow.stdout).toContain('Checked: that the metadata reads to its last byte');
    expect(shallow.stdout).toContain('Not checked: what is in the files (--deep opens them)');
    expect(shallow.stdout).toContain('tables, topics and transactions; whether a job fits this state');
    const deep = await runCkpt(['verify', '--deep', ...map, `${original}/${job}/chk-3`]);
    expect(deep).toMatchObject({ stderr: '', exitCode: 0 });
    expect(deep.stdout).toContain('headers, key-group offsets, framing, and the checksums where the format has some');
    for (const { stdout } of [shallow, deep]) expect(stdout).not.toMatch(/restor/i);
  });

  it('tells a fault with file, operator, subtask, both places, and where else a file of the name lies', async () => {
    const { map, original, job, path } = await copyOfCase(ROCKSDB);
    const pointer = `${original}/${job}/chk-3`;
    const whole = await verified([...map, pointer, '--deep']);
    expect(whole.exitCode).toBe(0);
    const oracle = JSON.parse(await readFile(join(fixturesDirectory(), ROCKSDB, `${job}.chk-3.oracle.json`), 'utf8'));
    const keyed = oracle.operatorStates.find(({ name }: { name: string }) => name === 'Keyed states');
    const [{ handle }] = keyed.subtasks[1].managedKeyedState[0].sharedState;
    const name = handle.filePath.split('/').at(-1);
    await mkdir(path(job, 'taskowned', 'else'), { recursive: true });
    await rename(path(job, 'shared', name), path(job, 'taskowned', 'else', name));

    const { document, exitCode } = await verified([...map, pointer]);
    expect(exitCode).toBe(1);
    expect(document.pointers[0]).toMatchObject({ ok: false, files: 24 });
    expect(document.pointers[0].faults).toEqual([
      {
        fault: 'missing',
        path: handle.filePath,
        lookedUpAt: `file:${path(job, 'shared', name)}`,
        operatorId: keyed.operatorId,
        operatorName: 'Keyed states',
        subtask: 1,
        expected: handle.stateSize,
        found: null,
        foundAt: `${original}/${job}/taskowned/else/${name}`,
      },
    ]);
    const { stdout } = await runCkpt(['verify', ...map, pointer]);
    for (const told of [handle.filePath, `Keyed states (${keyed.operatorId})`, 'missing', `taskowned/else/${name}`]) {
      expect(stdout).toContain(told);
    }
  });

  it('a plain copy of files that are named absolutely: the old place, and what --map would mend', async () => {
    const { root, job } = await copyOfCase(ROCKSDB);
    const { document, exitCode } = await verified([root]);
    expect(exitCode).toBe(1);
    expect(document.roots).toMatchObject([{ checkpoints: 3, whole: 0 }]);
    expect(document.moved).toEqual({
      old: 'file:/tmp/flink/checkpoints/2.3.0/rocksdb-incremental',
      new: `file:${root}`,
    });
    expect(document.pointers[0].faults[0]).toMatchObject({
      fault: 'missing',
      path: expect.stringMatching(/^file:\/tmp\/flink\//),
      foundAt: expect.stringContaining(`file:${root}/${job}/shared/`),
    });
    const map = `${document.moved.old}=${document.moved.new}`;
    expect((await runCkpt(['verify', root])).stdout.replace(/\s+/g, ' ')).toContain(`--map ${map}`);
    expect((await verified(['--map', map, root])).exitCode).toBe(0);
  });

  it('--deep finds one flipped byte that the length does not tell', async () => {
    const { map, original, job, path } = await copyOfCase(ROCKSDB);
    const pointer = `${original}/${job}/chk-3`;
    const oracle = JSON.parse(await readFile(join(fixturesDirectory(), ROCKSDB, `${job}.chk-3.oracle.json`), 'utf8'));
    const keyed = oracle.operatorStates.find(({ name }: { name: string }) => name === 'Keyed states');
    const [{ handle }] = keyed.subtasks[0].managedKeyedState[0].sharedState;
    const sst = path(job, 'shared', handle.filePath.split('/').at(-1));
    const bytes = await readFile(sst);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await writeFile(sst, bytes);
    expect((await verified([...map, pointer])).exitCode).toBe(0);
    const { document, exitCode } = await verified([...map, pointer, '--deep']);
    expect(exitCode).toBe(1);
    expect(document.pointers[0].faults).toMatchObject([
      { fault: 'corrupt', path: handle.filePath, operatorId: keyed.operatorId, subtask: 0, foundAt: null },
    ]);
    expect(document.pointers[0].faults[0].expected).toMatch(
      /^a block of \d+ bytes with checksum [0-9a-f]{8} at byte \d+$/,
    );
  });

  it('bytes behind the end of the metadata are a warning', async () => {
    const directory = await checkpointAt(join(await tempDirectory(), 'chk-1'));
    await appendFile(join(directory, '_metadata'), 'xyz');
    const { document, stderr, exitCode } = await verified([directory]);
    expect(exitCode).toBe(0);
    expect(document.pointers[0].warnings).toEqual(['3 bytes behind the end of the metadata, which Flink ignores']);
    expect(stderr).toBe(
      `ckpt: warning: file:${directory}: 3 bytes behind the end of the metadata, which Flink ignores\n`,
    );
    expect((await runCkpt(['verify', '-q', directory])).stderr).toBe('');
  });

  it('metadata that cannot be read is exit 4, one that cannot be found exit 3', async () => {
    const { document, exitCode, stderr } = await verified([join(BROKEN, 'truncated-header')]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('corrupt metadata at byte');
    expect(document).toMatchObject({
      ok: false,
      error: { code: 'CORRUPT_METADATA' },
      pointers: [{ ok: false, error: { code: 'CORRUPT_METADATA' }, faults: [{ fault: 'corrupt', operatorId: null }] }],
    });
    const missing = await verified([join(await tempDirectory(), 'chk-1')]);
    expect(missing.exitCode).toBe(3);
    expect(Object.keys(missing.document)).toEqual(['error']);
  });

  it('reads and changes nothing', async () => {
    const { root, map, original } = await copyOfCase(ROCKSDB);
    const before = await snapshotOf(root);
    expect((await runCkpt(['verify', '--deep', ...map, original])).exitCode).toBe(0);
    const after = await snapshotOf(root);
    const withoutAccess = (snapshot: typeof before) =>
      Object.fromEntries(Object.entries(snapshot).map(([path, { atimeNs: _, ...rest }]) => [path, rest]));
    expect(withoutAccess(after)).toEqual(withoutAccess(before));
  });
});

describe('ckpt verify of a root', () => {
  it('tells which checkpoints are whole, and which missing file breaks which of them', async () => {
    const root = await tempDirectory();
    const shared = join(root, JOB, 'shared');
    await mkdir(shared, { recursive: true });
    for (const name of ['a', 'b', 'c']) await writeFile(join(shared, name), 'x'.repeat(100));
    const at = (id: number, ...names: string[]) =>
      checkpointAt(
        join(root, JOB, `chk-${id}`),
        metadata({
          operatorStates: [
            operator({
              subtasks: [subtask({ managedKeyedState: incremental(names.map((name) => file(join(shared, name)))) })],
            }),
          ],
        }),
      );
    await at(9, 'a');
    await at(10, 'a', 'b');
    await at(11, 'b', 'c');
    await mkdir(join(root, JOB, 'chk-12'));
    await rm(join(shared, 'b'));
    const { document, exitCode } = await verified([root]);
    expect(exitCode).toBe(1);
    expect(document.pointers.map(({ pointer, ok }: { pointer: string; ok: boolean }) => [pointer, ok])).toEqual([
      [`file:${root}/${JOB}/chk-9`, true],
      [`file:${root}/${JOB}/chk-10`, false],
      [`file:${root}/${JOB}/chk-11`, false],
    ]);
    expect(document.brokenFiles).toEqual([
      {
        path: `${shared}/b`,
        lookedUpAt: `file:${shared}/b`,
        foundAt: null,
        faults: ['missing'],
        pointers: [`file:${root}/${JOB}/chk-10`, `file:${root}/${JOB}/chk-11`],
      },
    ]);
    expect(document.roots).toEqual([
      { root: `file:${root}`, checkpoints: 3, whole: 1, incomplete: [`file:${root}/${JOB}/chk-12`], vanished: [] },
    ]);
    const { stdout } = await runCkpt(['verify', root]);
    expect(stdout).toContain('1 of 3 checkpoints whole, 1 directory without metadata');
  });

  it('unreadable metadata and directories are faults of it, with exit 1', async () => {
    const root = await tempDirectory();
    await checkpointAt(join(root, JOB, 'chk-1'));
    await cp(join(BROKEN, 'jpeg', '_metadata'), join(await made(root, JOB, 'chk-2'), '_metadata'));
    await mkdir(join(root, JOB, 'chk-3', '_metadata'), { recursive: true });
    const { document, stderr, exitCode } = await verified([root]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('not a Flink metadata file');
    expect(document.pointers).toMatchObject([
      { ok: true },
      { ok: false, error: { code: 'NOT_FLINK_METADATA' }, faults: [{ fault: 'unreadable', operatorId: null }] },
      { ok: false, error: { code: 'WRONG_FILE_TYPE' } },
    ]);
    expect(document.error).toBeUndefined();
  });

  it.skipIf(process.getuid?.() !== 0)('a directory that cannot be listed counts as unreadable metadata', async () => {
    const root = await tempDirectory();
    await chmod(root, 0o755);
    await checkpointAt(join(root, JOB, 'chk-1'));
    await mkdir(join(root, 'closed'), { mode: 0o700 });
    const { document, exitCode } = await asNobody(root);
    expect(exitCode).toBe(1);
    expect(document.pointers).toMatchObject([
      { ok: true },
      { pointer: `file:${root}/closed`, error: { code: 'PERMISSION_DENIED' } },
    ]);
  });

  it('a root without any checkpoint is exit 3', async () => {
    const root = await tempDirectory();
    await mkdir(join(root, JOB, 'chk-1'), { recursive: true });
    const { document, exitCode } = await verified([root]);
    expect(exitCode).toBe(3);
    expect(document.error).toMatchObject({ code: 'NO_CHECKPOINT' });
    expect(document.error.message).toContain('one directory without metadata');
  });

  it('--jsonl prints a line for each as it is verified, those with missing files last', async () => {
    const { root, map, original, job, path } = await copyOfCase(ROCKSDB);
    const { stdout: whole, exitCode } = await runCkpt(['verify', '--jsonl', ...map, root]);
    expect(exitCode).toBe(0);
    const pointers = whole
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).pointer);
    expect(pointers.sort()).toEqual([1, 2, 3].map((id) => `${original}/${job}/chk-${id}`));
    for (const name of await filesOf(`${original}/${job}/chk-1`, map))
      await rm(path(job, 'chk-1', name), { force: true });
    const { stdout, exitCode: broken } = await runCkpt(['verify', '--jsonl', ...map, root]);
    expect(broken).toBe(1);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(lines[2]).toMatchObject({ pointer: `${original}/${job}/chk-1`, faults: expect.any(Array) });
  });
});

describe('ckpt verify of several', () => {
  it('mixes pointers and roots, verifies each once, and gives the highest code', async () => {
    const root = await tempDirectory();
    const good = await checkpointAt(join(root, JOB, 'chk-1'));
    const bad = await checkpointAt(
      join(root, JOB, 'chk-2'),
      metadata({
        operatorStates: [operator({ subtasks: [subtask({ managedKeyedState: incremental([relativeFile('gone')]) })] })],
      }),
    );
    const both = await verified([root, bad, good]);
    expect(both.exitCode).toBe(1);
    expect(both.document.pointers).toHaveLength(2);

    const three = await verified([good, join(root, 'nothing'), join(BROKEN, 'text')]);
    expect(three.exitCode).toBe(4);
    expect(three.document).toMatchObject({
      ok: false,
      pointers: [
        { pointer: join(root, 'nothing'), ok: false, error: { code: 'NOT_FOUND' } },
        { pointer: `file:${good}`, ok: true, error: null },
        { ok: false, error: { code: 'NOT_FLINK_METADATA' } },
      ],
    });
    expect(three.document.error).toBeUndefined();
    expect(three.stderr.split('\n').filter((line) => line.startsWith('ckpt: '))).toHaveLength(2);
  });

  it('--latest takes the newest, --job that of a job', async () => {
    const root = await tempDirectory();
    for (const id of [9, 10]) await checkpointAt(join(root, JOB, `chk-${id}`), metadata({ checkpointId: BigInt(id) }));
    await checkpointAt(join(root, OTHER_JOB, 'chk-3'), metadata({ checkpointId: 3n }));
    const { document } = await verified(['--latest', '--job', JOB, root]);
    expect(document.pointers.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      `file:${root}/${JOB}/chk-10`,
    ]);
    expect((await verified(['--job', JOB, root])).exitCode).toBe(2);
    expect((await verified(['--latest', join(root, JOB, 'chk-9', 'nothing')])).exitCode).toBe(3);
  });
});

describe('resolve --latest --whole', () => {
  it('passes over what verify finds broken', async () => {
    const { map, original, job, path } = await copyOfCase(ROCKSDB);
    const [name = ''] = await filesOf(`${original}/${job}/chk-3`, map);
    await truncate(path(job, 'chk-3', name), 1);
    const { stdout, stderr } = await runCkpt(['resolve', '--json', '--latest', '--whole', ...map, original]);
    expect(JSON.parse(stdout).externalPointer).toBe(`${original}/${job}/chk-2`);
    expect(stderr).toContain('too-short');
  });
});

it.skipIf(!hasTerminal)('fits a terminal', async () => {
  const { map, original } = await copyOfCase(ROCKSDB);
  const { screen, exitCode } = await runInTerminal([process.execPath, binPath(), 'verify', '--deep', ...map, original]);
  expect(exitCode).toBe(0);
  expect(screen).toContain('3 of 3 checkpoints whole');
});

async function made(...names: readonly string[]): Promise<string> {
  const directory = join(...names);
  await mkdir(directory, { recursive: true });
  return directory;
}

/** Names of the files in the own directory of a checkpoint. */
async function filesOf(pointer: string, map: readonly string[]): Promise<string[]> {
  const { stdout } = await runCkpt(['dump', ...map, pointer]);
  return [...stdout.matchAll(/"relativePath":"([^"]+)"/g)].map(([, name]) => name ?? '');
}

async function asNobody(root: string) {
  const { stdout, exitCode } = await execa(process.execPath, [binPath(), 'verify', '--json', root], {
    reject: false,
    uid: 65534,
    gid: 65534,
  });
  return { document: JSON.parse(stdout), exitCode };
}
