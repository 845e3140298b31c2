import { chmod, cp, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseCopy, copyOfCase } from '../support/case-copy.js';
import { checkpointAt, metadata } from '../support/made-metadata.js';
import { makePipe } from '../support/make-pipe.js';
import { type CkptResult, type RunCkptOptions, runCkpt } from '../support/run-ckpt.js';
import { snapshotOf } from '../support/snapshot.js';
import { tempDirectory } from '../support/temp.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;
const JOB = 'a9bb24628cd66d4aa93ef718aab300a1';
const OTHER_JOB = '0123456789abcdef0123456789abcdef';

const copyOfRocksdb = (): Promise<CaseCopy> => copyOfCase('flink-2.3.0/rocksdb-incremental');

/** The external pointer that `resolve --json` finds. */
async function resolved(args: readonly string[], options?: RunCkptOptions): Promise<string> {
  const { stdout, stderr, exitCode } = await runCkpt(['resolve', '--json', ...args], options);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout).externalPointer;
}

/** What a failed `resolve` says, on standard error and in its document. */
async function failed(args: readonly string[], exit: number, options?: RunCkptOptions) {
  const text = await runCkpt(['resolve', ...args], options);
  expect(text).toMatchObject({ stdout: '', exitCode: exit });
  const json = await runCkpt(['resolve', '--json', ...args], options);
  expect(json).toMatchObject({ stderr: text.stderr, exitCode: exit });
  const document = JSON.parse(json.stdout);
  expect(Object.keys(document)).toEqual(['error']);
  const [first = '', ...causes] = text.stderr.trimEnd().split('\n');
  return { first, causes, error: document.error };
}

const written = (path: string, secondsAgo: number): Promise<void> => {
  const time = new Date(Date.now() - secondsAgo * 1000);
  return utimes(join(path, '_metadata'), time, time);
};

describe('ckpt resolve prints', () => {
  it('the external pointer and the metadata path, and nothing else', async () => {
    const { path } = await copyOfRocksdb();
    const directory = path(JOB, 'chk-2');
    expect(await runCkpt(['resolve', directory])).toEqual({
      stdout: `External pointer  file:${directory}\nMetadata          file:${directory}/_metadata\n`,
      stderr: '',
      exitCode: 0,
      signal: undefined,
    });
    const { stdout, stderr } = await runCkpt(['resolve', directory, '--json']);
    expect(stderr).toBe('');
    expect(stdout.endsWith('}\n')).toBe(true);
    expect(JSON.parse(stdout)).toEqual({
      pointer: directory,
      externalPointer: `file:${directory}`,
      metadataPath: `file:${directory}/_metadata`,
      directory: `file:${directory}`,
    });
  });

  it('the same base directory for every way to write it', async () => {
    const { path, root } = await copyOfRocksdb();
    const directory = path(JOB, 'chk-1');
    await cp(join(directory, '_metadata'), join(directory, 'old_metadata'));
    const ways = [
      `${directory}/`,
      `${directory}///`,
      `${directory}//_metadata`,
      `${directory}/_metadata/`,
      `${directory}/old_metadata`,
      `${directory}/../chk-1`,
      `file:${directory}`,
      `file://${directory}`,
      `file://${directory}/old_metadata`,
    ];
    for (const way of ways) expect(await resolved([way]), way).toBe(`file:${directory}`);
    for (const way of [`${JOB}/chk-1`, `./${JOB}/chk-1`, `${JOB}/chk-1/_metadata`, `../root/${JOB}/chk-1`]) {
      expect(await resolved([way], { cwd: root }), way).toBe(`file:${directory}`);
    }
    const { stdout } = await runCkpt(['resolve', '--json', `${directory}/old_metadata`]);
    expect(JSON.parse(stdout).metadataPath).toBe(`file:${directory}/old_metadata`);
  });

  it('blanks, percent signs and equals signs of a path as they are', async () => {
    const directory = await tempDirectory();
    for (const name of [' chk 1 ', 'a%20b', 'x=y', '%', 'größe 窓']) {
      const checkpoint = await checkpointAt(join(directory, name));
      expect(await resolved([checkpoint])).toBe(`file:${checkpoint}`);
    }
    expect((await failed([join(directory, 'x%3Dy')], 3)).first).toContain('percent signs');
  });

  it('what a link leads to under the name of the link', async () => {
    const { path } = await copyOfRocksdb();
    await symlink(path(JOB, 'chk-1'), path('newest'));
    expect(await resolved([path('newest')])).toBe(`file:${path('newest')}`);
    await symlink(path(JOB, 'chk-1', '_metadata'), path('my-metadata'));
    expect(await resolved([path('my-metadata')])).toBe(`file:${path()}`);
  });
});

describe('a pointer that leads nowhere', () => {
  it('is refused where it is no path', async () => {
    for (const pointer of ['', '::', 'file://host/a']) {
      const { first, causes, error } = await failed([pointer], 3);
      expect(first).toMatch(/^ckpt: ".*" is not a valid path: /);
      expect(causes).toEqual([]);
      expect(error).toMatchObject({ code: 'INVALID_PATH', data: { path: pointer } });
    }
  });

  it('is refused where no file system is known, the case of the scheme included', async () => {
    for (const [pointer, scheme] of [
      ['nosuch://bucket/x', 'nosuch'],
      ['FILE:/a', 'FILE'],
    ] as const) {
      const { first, error } = await failed([pointer], 3);
      expect(first).toContain(`${pointer}: no file system for the scheme "${scheme}"; known: `);
      expect(error).toMatchObject({ code: 'UNKNOWN_SCHEME', data: { scheme } });
    }
  });

  it('names the checkpoints beside a vanished one, the nearest first', async () => {
    const { path } = await copyOfRocksdb();
    for (const [from, to] of [
      ['chk-1', 'chk-39'],
      ['chk-2', 'chk-42'],
      ['chk-3', 'chk-7'],
    ] as const)
      await rename(path(JOB, from), path(JOB, to));
    await mkdir(path(JOB, 'chk-40'));
    const { first, causes, error } = await failed([path(JOB, 'chk-41')], 3);
    expect(first).toBe(
      `ckpt: file:${path(JOB, 'chk-41')}: no such file or directory; beside it: chk-42, chk-39, chk-7`,
    );
    expect(causes).toEqual([]);
    expect(error).toMatchObject({
      code: 'NOT_FOUND',
      data: { nearby: ['chk-42', 'chk-39', 'chk-7'].map((name) => `file:${path(JOB, name)}`) },
    });
  });

  it.each([
    ['savepoint 42060b-8b73a371f190', 'savepoint-42060b-8b73a371f190'],
    ['savepoint-42060b-8b73a371f19', 'savepoint-42060b-8b73a371f190'],
    ['Savepoint-42060B-8B73A371F190', 'savepoint-42060b-8b73a371f190'],
    ['savepoint-42060b-8b73a371f190/_metdata', '_metadata'],
  ])('%j: says what is nearby', async (pointer, meant) => {
    const { path } = await copyOfCase('flink-2.3.0/savepoint-canonical-rocksdb');
    const { first, error } = await failed([path(pointer)], 3);
    expect(first).toBe(`ckpt: file:${path(pointer)}: no such file or directory; beside it: ${meant}`);
    expect(error.data.nearby).toEqual([`file:${join(dirname(path(pointer)), meant)}`]);
  });

  it('names the same checkpoint of the job that was meant', async () => {
    const { path } = await copyOfRocksdb();
    const wrong = JOB.replace(/1$/, '7');
    expect((await failed([path(wrong, 'chk-3')], 3)).first).toBe(
      `ckpt: file:${path(wrong, 'chk-3')}: no such file or directory; file:${path(wrong)} does not exist either; there is file:${path(JOB, 'chk-3')}`,
    );
    expect((await failed([path(wrong, 'chk-33')], 3)).first).toMatch(
      new RegExp(`does not exist either; there is file:${path(JOB)}$`),
    );
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what a shell script leaves
  it.each(['<checkpoint-path>', '${CHECKPOINT}', '{{ savepoint }}', '$SAVEPOINT', ' <path> '])(
    '%j is a placeholder',
    async (pointer) => {
      const { first, causes, error } = await failed([pointer], 3);
      expect(first).toContain('looks like a placeholder');
      expect({ causes, code: error.code }).toEqual({ causes: [], code: 'NOT_FOUND' });
    },
  );

  it('may be the marker of checkpoints in memory', async () => {
    const { first } = await failed(['<checkpoint-not-externally-addressable>'], 3);
    expect(first).toContain("Flink's marker");
  });

  it('tells a file in the way, a blank too much, and a link that leads nowhere', async () => {
    const { path } = await copyOfRocksdb();
    const file = path(JOB, 'chk-1', '_metadata');
    expect((await failed([join(file, 'x')], 3)).first).toMatch(
      new RegExp(`no such file or directory; file:${file} is a file, not a directory$`),
    );
    const blank = `${path(JOB, 'chk-1')} `;
    expect((await failed([blank], 3)).first).toContain('its name begins or ends with a blank; beside it: chk-1');
    await symlink('nowhere', path('dangling'));
    expect((await failed([path('dangling')], 3)).first).toBe(`ckpt: file:${path('dangling')}: this link leads nowhere`);
    await symlink('loop', path('loop'));
    expect((await failed([path('loop')], 3)).first).toContain('this link leads nowhere');
  });

  it('may have a name that is too long to exist, or one that would forge lines', async () => {
    expect((await failed(['x'.repeat(10_000)], 3)).first).toContain('no such file or directory');
    const { first, causes } = await failed(['./a\u001b[2J\nckpt: forged\u202e'], 3);
    expect(first).toContain(String.raw`a\x1b[2J\nckpt: forged\u{202e}: no such file`);
    expect(causes).toEqual([]);
  });

  it('is neither a pipe nor a device', async () => {
    expect((await failed(['/dev/null'], 3)).error.code).toBe('WRONG_FILE_TYPE');
  });
});

describe('a directory that is no checkpoint', () => {
  it('names the newest checkpoint below, be it a root or the directory of a job', async () => {
    const { path, root } = await copyOfRocksdb();
    for (const directory of [root, path(JOB)]) {
      const { first, causes, error } = await failed([directory], 3);
      expect(first).toBe(
        `ckpt: file:${directory}: this is a directory above checkpoints, not one of them; the newest complete one is file:${path(JOB, 'chk-3')} (--latest takes it)`,
      );
      expect(causes).toEqual([]);
      expect(error).toMatchObject({ code: 'NO_METADATA', data: { nearby: [`file:${path(JOB, 'chk-3')}`] } });
    }
  });

  it('may be one whose metadata is gone, or not there yet', async () => {
    const { path } = await copyOfRocksdb();
    await rm(path(JOB, 'chk-2', '_metadata'));
    const { first, error } = await failed([path(JOB, 'chk-2')], 3);
    expect(first).toMatch(/no _metadata in this directory \(6 entries are there without it\): the checkpoint is still/);
    expect(first).toMatch(/; complete beside it: chk-3, chk-1$/);
    expect(error.code).toBe('NO_METADATA');
    await mkdir(path(JOB, 'chk-10'));
    expect((await failed([path(JOB, 'chk-10')], 3)).first).toContain('(it is empty)');
  });

  it('may be half discarded', async () => {
    const { path } = await copyOfRocksdb();
    await rename(path(JOB, 'chk-1', '_metadata'), path(JOB, 'chk-1', '_metadata.discarding'));
    const { first, error } = await failed([path(JOB, 'chk-1')], 3);
    expect(first).toContain('being discarded');
    expect(error).toMatchObject({ code: 'NO_METADATA', data: { halfDiscarded: true } });
    await cp(path(JOB, 'chk-1', '_metadata.discarding'), path(JOB, 'chk-1', '_metadata'));
    expect(await resolved([path(JOB, 'chk-1')])).toBe(`file:${path(JOB, 'chk-1')}`);
  });

  it('may hold a _metadata that is no file', async () => {
    const directory = await tempDirectory();
    await mkdir(join(directory, 'chk-1', '_metadata'), { recursive: true });
    await mkdir(join(directory, 'chk-2'));
    await symlink('nowhere', join(directory, 'chk-2', '_metadata'));
    await mkdir(join(directory, 'chk-3'));
    await makePipe(join(directory, 'chk-3', '_metadata'));
    for (const [name, reason] of [
      ['chk-1', 'is a directory, not a file'],
      ['chk-2', 'is a link that leads nowhere'],
      ['chk-3', 'is no regular file'],
    ] as const) {
      const { first, error } = await failed([join(directory, name)], 3);
      expect(first).toBe(`ckpt: file:${join(directory, name)}: _metadata in it ${reason}`);
      expect(error.code).toBe('NO_METADATA');
    }
    const { stdout, stderr, exitCode } = await runCkpt(['resolve', '--latest', directory]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect(stderr).toContain('3 could not be read');
  });

  it('may hold the state files of a job', async () => {
    const { path } = await copyOfRocksdb();
    expect((await failed([path(JOB, 'shared')], 3)).first).toMatch(
      /it holds state files of a job's checkpoints; complete beside it: chk-3, chk-2, chk-1$/,
    );
  });

  it('may hold nothing of the kind', async () => {
    const directory = await tempDirectory();
    expect((await failed([directory], 3)).first).toMatch(
      /no _metadata in this directory, nor below it; .* of another name/,
    );
    await checkpointAt(join(directory, 'chk-1'), new Uint8Array());
    expect((await failed([directory], 3)).first).toMatch(/none below it that can be read \(1 cannot.*0 bytes/);
  });
});

describe.runIf(isRoot)('without permission', () => {
  async function copyForOthers(): Promise<CaseCopy> {
    const copy = await copyOfRocksdb();
    await chmod(dirname(copy.root), 0o755);
    return copy;
  }

  it('is another error than not found', async () => {
    const { path } = await copyForOthers();
    await chmod(path(JOB, 'chk-2'), 0o700);
    const { first, causes, error } = await failed([path(JOB, 'chk-2')], 3, { uid: NOBODY });
    expect(first).toBe(`ckpt: file:${path(JOB, 'chk-2', '_metadata')}: permission denied`);
    expect(causes).toEqual([expect.stringContaining('caused by: EACCES')]);
    expect(error.code).toBe('PERMISSION_DENIED');
    await chmod(path(), 0o700);
    for (const pointer of [path(JOB, 'chk-1'), path()]) {
      expect((await failed([pointer], 3, { uid: NOBODY })).error.code).toBe('PERMISSION_DENIED');
    }
    expect((await failed(['--latest', path()], 3, { uid: NOBODY })).error.code).toBe('PERMISSION_DENIED');
  });

  it('is said of what --latest could not see', async () => {
    const { path } = await copyForOthers();
    await chmod(path(JOB, 'chk-3'), 0o700);
    await chmod(path(JOB, 'chk-2', '_metadata'), 0o600);
    const options = { uid: NOBODY };
    const { stdout, stderr, exitCode } = await runCkpt(['resolve', '--json', '--latest', path()], options);
    expect(JSON.parse(stdout).externalPointer).toBe(`file:${path(JOB, 'chk-1')}`);
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      `ckpt: warning: not everything could be read, there may be a newer one: file:${path(JOB, 'chk-2', '_metadata')}: permission denied (and 1 more; --verbose tells all)\n`,
    );
    const verbose = await runCkpt(['resolve', '--latest', '--verbose', path()], options);
    expect(verbose.stderr).toContain(`ckpt: file:${path(JOB, 'chk-3')}: permission denied\n`);
    expect((await runCkpt(['resolve', '--latest', '-q', path()], options)).stderr).toBe('');
    expect((await failed([path()], 3, options)).first).toContain(
      `the newest complete one that can be read is file:${path(JOB, 'chk-1')}`,
    );
  });
});

describe('--latest', () => {
  it('takes the highest number, not the last name and not the last write', async () => {
    const { path, root } = await copyOfRocksdb();
    await rename(path(JOB, 'chk-3'), path(JOB, 'chk-10'));
    await rename(path(JOB, 'chk-2'), path(JOB, 'chk-9'));
    await rename(path(JOB, 'chk-1'), path(JOB, 'chk-2'));
    await written(path(JOB, 'chk-10'), 60);
    await written(path(JOB, 'chk-9'), 30);
    for (const pointer of [root, `${root}/`, path(JOB), path(JOB, 'chk-10')]) {
      expect(await resolved(['--latest', pointer]), pointer).toBe(`file:${path(JOB, 'chk-10')}`);
    }
    await rm(path(JOB, 'chk-10', '_metadata'));
    expect(await resolved(['--latest', root])).toBe(`file:${path(JOB, 'chk-9')}`);
  });

  it('counts 2514 above 276, and copies of one checkpoint by their numbers', async () => {
    const directory = await tempDirectory();
    for (const id of [2514n, 276n]) {
      await checkpointAt(join(directory, 'real', JOB, `chk-${id}`), metadata({ checkpointId: id }));
      await checkpointAt(join(directory, 'copies', JOB, `chk-${id}`));
    }
    for (const root of ['real', 'copies']) {
      expect(await resolved(['--latest', join(directory, root)])).toBe(
        `file:${join(directory, root, JOB, 'chk-2514')}`,
      );
    }
  });

  it('counts savepoints of the job as well, half-discarded ones not at all', async () => {
    const directory = await tempDirectory();
    await checkpointAt(join(directory, JOB, 'chk-3'), metadata({ checkpointId: 3n }));
    const savepoint = await checkpointAt(
      join(directory, `savepoint-${JOB.slice(0, 6)}-000000000000`),
      metadata({ checkpointId: 4n }),
    );
    expect(await runCkpt(['resolve', '--latest', '--json', directory])).toMatchObject({
      stdout: expect.stringContaining(`"externalPointer":"file:${savepoint}"`),
      stderr: '',
    });
    await rename(join(savepoint, '_metadata'), join(savepoint, '_metadata.discarding'));
    expect(await resolved(['--latest', directory])).toBe(`file:${join(directory, JOB, 'chk-3')}`);
  });

  it('finds checkpoints without job directories, at any depth, under any name', async () => {
    const directory = await tempDirectory();
    const flat = await checkpointAt(join(directory, 'flat', 'chk-2'), metadata({ checkpointId: 2n }));
    await checkpointAt(join(directory, 'flat', 'chk-1'));
    expect(await resolved(['--latest', join(directory, 'flat')])).toBe(`file:${flat}`);
    const deep = await checkpointAt(join(directory, 'deep', 'a', 'b', 'c', 'any name'));
    expect(await resolved(['--latest', join(directory, 'deep')])).toBe(`file:${deep}`);
  });

  async function twoJobs(): Promise<{ root: string; old: string; young: string }> {
    const root = await tempDirectory();
    const old = await checkpointAt(join(root, JOB, 'chk-900'), metadata({ checkpointId: 900n }));
    const young = await checkpointAt(join(root, OTHER_JOB, 'chk-2'), metadata({ checkpointId: 2n }));
    await written(old, 3600);
    await written(young, 60);
    return { root, old, young };
  }

  it('of several jobs takes the one written last, and says so', async () => {
    const { root, old, young } = await twoJobs();
    const { stdout, stderr, exitCode } = await runCkpt(['resolve', '--latest', root]);
    expect(stdout).toContain(`External pointer  file:${young}\n`);
    expect(stderr).toBe(
      `ckpt: warning: several jobs; file:${young} was written last. The newest of the others: file:${old} (--job picks)\n`,
    );
    expect(exitCode).toBe(0);
    await written(young, 7200);
    expect(await resolved(['--latest', root])).toBe(`file:${old}`);
  });

  it('with --job picks one, by its id or the first digits', async () => {
    const { root, old, young } = await twoJobs();
    for (const [job, pointer] of [
      [JOB, old],
      [JOB.toUpperCase(), old],
      ['a9bb', old],
      ['0', young],
    ] as const) {
      const result = await runCkpt(['resolve', '--latest', '--json', '--job', job, root]);
      expect(result).toMatchObject({ stderr: '', exitCode: 0 });
      expect(JSON.parse(result.stdout).externalPointer).toBe(`file:${pointer}`);
    }
    expect((await failed(['--latest', '--job', 'ff', root], 3)).error).toMatchObject({
      code: 'NO_CHECKPOINT',
      message: `file:${root}: no complete checkpoint or savepoint of job ff below this directory`,
    });
  });

  it.each([
    [['--job', 'a', 'x'], '--job chooses among checkpoints: it goes with --latest'],
    [['--whole', 'x'], '--whole chooses among checkpoints: it goes with --latest'],
    [['--latest', '--job', 'no-hex', 'x'], '"no-hex" is not a job id'],
    [[], "missing required argument 'pointer'"],
    [['x', 'y'], 'too many arguments'],
  ])('%j is wrong use', async (args, reason) => {
    expect((await failed(args, 2)).first).toContain(reason);
  });

  it('with --whole passes over a checkpoint of which a file is missing', async () => {
    const { path, root, map, original } = await copyOfRocksdb();
    expect(await resolved(['--latest', '--whole', ...map, root])).toBe(`${original}/${JOB}/chk-3`);
    const { stdout } = await runCkpt(['dump', path(JOB, 'chk-3')]);
    const file = /"relativePath":"([^"]*)"/.exec(stdout)?.[1] ?? '';
    await rm(path(JOB, 'chk-3', file));
    const result = await runCkpt(['resolve', '--latest', '--whole', '--json', ...map, root]);
    expect(JSON.parse(result.stdout).externalPointer).toBe(`${original}/${JOB}/chk-2`);
    expect(result.stderr).toBe(
      `ckpt: warning: ${original}/${JOB}/chk-3 is not whole and was passed over: missing: ${original}/${JOB}/chk-3/${file}\n`,
    );
    expect((await failed(['--latest', '--whole', root], 3)).error).toMatchObject({
      code: 'NO_CHECKPOINT',
      message: `file:${root}: no whole checkpoint or savepoint below this directory`,
    });
  });

  it('of a directory without any, or of none at all, is exit 3', async () => {
    const directory = await tempDirectory();
    expect((await failed(['--latest', directory], 3)).error.code).toBe('NO_CHECKPOINT');
    expect((await failed(['--latest', join(directory, 'missing')], 3)).error.code).toBe('NOT_FOUND');
    await writeFile(join(directory, 'file'), 'x');
    expect((await failed(['--latest', join(directory, 'file')], 3)).error.code).toBe('WRONG_FILE_TYPE');
  });

  it('of a root whose metadata is broken says that', async () => {
    const directory = await checkpointAt(await tempDirectory(), Buffer.from('hello'));
    expect((await failed(['--latest', directory], 4)).error.code).toBe('NOT_FLINK_METADATA');
  });

  it('follows links, and comes to an end where they go in circles', async () => {
    const { path, root } = await copyOfRocksdb();
    const elsewhere = await tempDirectory();
    const far = await checkpointAt(join(elsewhere, 'jobs', JOB, 'chk-8'), metadata({ checkpointId: 8n }));
    await symlink(root, join(elsewhere, 'back'));
    await symlink(elsewhere, join(elsewhere, 'jobs', 'itself'));
    await symlink(root, path(JOB, 'up'));
    await symlink('.', path('here'));
    await symlink('nowhere', path('dangling'));
    expect(await resolved(['--latest', root])).toBe(`file:${path(JOB, 'chk-3')}`);
    await symlink(elsewhere, path('far'));
    expect(await resolved(['--latest', root])).toBe(`file:${path('far', 'jobs', JOB, 'chk-8')}`);
    expect(await resolved([far])).toBe(`file:${far}`);
  });
});

describe('--map', () => {
  it('takes a pointer by its old or its new name, and answers with the old one', async () => {
    const { path, root, map, original } = await copyOfRocksdb();
    const old = `${original}/${JOB}/chk-2`;
    for (const pointer of [old, path(JOB, 'chk-2'), `file:${path(JOB, 'chk-2', '_metadata')}`]) {
      expect(await resolved([...map, pointer]), pointer).toBe(old);
    }
    for (const pointer of [original, root]) {
      expect(await resolved([...map, '--latest', pointer]), pointer).toBe(`${original}/${JOB}/chk-3`);
    }
    expect(await resolved([path(JOB, 'chk-2')])).toBe(`file:${path(JOB, 'chk-2')}`);
  });

  it('tells where it looked', async () => {
    const { root, map, original } = await copyOfRocksdb();
    const { first, error } = await failed([...map, `${original}/${JOB}/chk-4`], 3);
    expect(first).toBe(
      `ckpt: ${original}/${JOB}/chk-4: no such file or directory (looked up at file:${root}/${JOB}/chk-4); beside it: chk-3, chk-2, chk-1`,
    );
    expect(error.data).toMatchObject({ lookedUpAt: `file:${root}/${JOB}/chk-4` });
    expect((await failed([...map, original], 3)).first).toContain(
      `this is a directory above checkpoints (looked up at file:${root}), not one of them; the newest complete one is ${original}/${JOB}/chk-3`,
    );
  });

  it('takes names of stores that cannot be reached', async () => {
    const { root } = await copyOfRocksdb();
    const map = ['--map', `cos://bucket/checkpoints=${root}`];
    expect(await resolved([...map, '--latest', 'cos://bucket/checkpoints'])).toBe(
      `cos://bucket/checkpoints/${JOB}/chk-3`,
    );
    expect((await failed([...map, 'cos://bucket/other'], 3)).error.code).toBe('UNKNOWN_SCHEME');
  });
});

it('reads and changes nothing, also in a directory that nobody may write to', async () => {
  const { path, root } = await copyOfRocksdb();
  for (const name of ['chk-1', 'chk-2', 'chk-3']) await chmod(path(JOB, name), 0o555);
  await chmod(root, 0o555);
  const before = await snapshotOf(root);
  const runs: Promise<CkptResult>[] = [
    runCkpt(['resolve', path(JOB, 'chk-1')]),
    runCkpt(['resolve', '--latest', root]),
    runCkpt(['resolve', root]),
    runCkpt(['resolve', path(JOB, 'chk-5')]),
    runCkpt(['resolve', '--latest', '--whole', root]),
  ];
  expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 3, 3, 3]);
  expect(await snapshotOf(root)).toEqual(before);
});
