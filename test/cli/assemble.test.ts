import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureCase } from '../support/corpus.js';
import { binPath } from '../support/paths.js';
import { type RunCkptOptions, runCkpt } from '../support/run-ckpt.js';
import { tempDirectory } from '../support/temp.js';

const isRoot = process.getuid?.() === 0;
const [first] = fixtureCase('flink-2.3.0/rocksdb-incremental').pointers;
const metadataFile = first?.metadataFile ?? '';

// biome-ignore lint/suspicious/noExplicitAny: documents are changed field by field, in ways that no type allows
type Json = any;

const dumped = async (): Promise<string> => (await runCkpt(['dump', metadataFile])).stdout;

/** A directory with the document of a real checkpoint, and where to write its metadata. */
async function prepared() {
  const directory = await tempDirectory();
  const document = join(directory, 'document.json');
  await writeFile(document, await dumped());
  return { directory, document, out: join(directory, 'out') };
}

async function isSame(file: string): Promise<boolean> {
  return (await readFile(metadataFile)).equals(await readFile(file));
}

/** A failed run: its first line, the error of its document, and that it has left nothing. */
async function refused(args: readonly string[], exit: number, options?: RunCkptOptions) {
  const { stdout, stderr, exitCode } = await runCkpt(['assemble', '--json', ...args], options);
  expect({ exitCode, stderr }).toEqual({ exitCode: exit, stderr: expect.stringMatching(/^ckpt: .*\n/) });
  return { line: stderr.split('\n')[0] ?? '', error: JSON.parse(stdout).error };
}

describe('ckpt assemble', () => {
  it('writes the file and says what it wrote', async () => {
    const { document, out } = await prepared();
    const size = (await readFile(metadataFile)).length;
    expect(await runCkpt(['assemble', document, '--out', out])).toMatchObject({
      stdout: expect.stringMatching(
        new RegExp(
          `^file:${out}: .*\\(${size.toLocaleString('en')} bytes\\), metadata version 6, 3 operators, 6 subtasks\n$`,
        ),
      ),
      stderr: '',
      exitCode: 0,
    });
    expect(await isSame(out)).toBe(true);
    const json = await runCkpt(['assemble', '--json', '-', '--out', `file:${out}2`], { input: await dumped() });
    expect(JSON.parse(json.stdout)).toEqual({
      target: `file:${out}2`,
      bytes: size,
      version: 6,
      operators: 3,
      subtasks: 6,
    });
    expect(await isSame(`${out}2`)).toBe(true);
  });

  it('makes the directory of the file, relative to where it runs', async () => {
    const { directory, document } = await prepared();
    expect((await runCkpt(['assemble', document, '--out', 'a/b/_metadata'], { cwd: directory })).exitCode).toBe(0);
    expect(await isSame(join(directory, 'a', 'b', '_metadata'))).toBe(true);
    expect(await readdir(join(directory, 'a', 'b'))).toEqual(['_metadata']);
  });

  it('replaces a file only when told to', async () => {
    const { document, out, directory } = await prepared();
    await writeFile(out, 'old', { mode: 0o640 });
    const { line, error } = await refused([document, '--out', out], 5);
    expect({ line, code: error.code }).toEqual({ line: `ckpt: file:${out}: already exists`, code: 'ALREADY_EXISTS' });
    expect(await readFile(out, 'utf8')).toBe('old');
    expect((await runCkpt(['assemble', document, '--out', out, '--overwrite'])).exitCode).toBe(0);
    expect(await isSame(out)).toBe(true);
    expect((await stat(out)).mode & 0o777).toBe(0o640);
    await symlink('nowhere', join(directory, 'link'));
    expect((await refused([document, '--out', join(directory, 'link')], 5)).error.code).toBe('ALREADY_EXISTS');
    expect((await readdir(directory)).sort()).toEqual(['document.json', 'link', 'out']);
  });

  it('writes over the very file that was dumped', async () => {
    const { directory } = await prepared();
    const file = join(directory, '_metadata');
    await writeFile(file, await readFile(metadataFile));
    const { stdout } = await runCkpt(['dump', file]);
    const changed = JSON.parse(stdout);
    changed.operatorStates[0].name = 'renamed';
    const { exitCode } = await runCkpt(['assemble', '-', '--overwrite', '--out', file], {
      input: JSON.stringify(changed),
    });
    expect(exitCode).toBe(0);
    const { stdout: after } = await runCkpt(['dump', file]);
    expect(JSON.parse(after)).toEqual(changed);
  });

  it('never takes a directory for a file', async () => {
    const { directory, document } = await prepared();
    for (const more of [[], ['--overwrite']]) {
      const { line } = await refused([document, '--out', directory, ...more], 5);
      expect(line).toBe(`ckpt: file:${directory}: is a directory, not the name of a file to write`);
    }
  });

  it('fails where it cannot write', async () => {
    const { directory, document } = await prepared();
    const below = join(document, 'x', 'y');
    const { line, error } = await refused([document, '--out', below], 1);
    expect(line).toBe(`ckpt: file:${below}: writing failed: a file stands where one of its directories should be`);
    expect(error.code).toBe('IO_ERROR');
    expect((await refused([document, '--out', '/proc/nothing/here'], 1)).error.code).toBe('IO_ERROR');
    expect(await readdir(directory)).toEqual(['document.json']);
  });

  it.runIf(isRoot)('fails where it may not write', async () => {
    const { directory, document } = await prepared();
    await chmod(directory, 0o755);
    for (const out of [join(directory, 'out'), join(directory, 'new', 'out')]) {
      const { line, error } = await refused([document, '--out', out], 1, { uid: 65534 });
      expect(line).toMatch(new RegExp(`^ckpt: file:${out}: writing failed: EACCES: permission denied`));
      expect(error).toMatchObject({ code: 'IO_ERROR', data: { path: `file:${out}` } });
    }
    expect(await readdir(directory)).toEqual(['document.json']);
    await chmod(document, 0o600);
    expect((await refused([document, '--out', join(directory, 'out')], 3, { uid: 65534 })).error.code).toBe(
      'PERMISSION_DENIED',
    );
  });

  it.each([
    [['--out', 'x'], "missing required argument 'file'"],
    [['-'], "required option '--out <path>' not specified"],
    [['-', '--out', ''], '--out: "" is not a valid path: it is empty'],
    [['-', '--out', 'file://host/a'], '--out: "file://host/a" is not a valid path'],
  ])('%j is wrong use', async (args, reason) => {
    expect((await refused(args, 2)).line).toContain(`ckpt: ${reason}`);
  });

  it('does not resolve a document that is not there', async () => {
    const { directory, out } = await prepared();
    expect((await refused([join(directory, 'missing'), '--out', out], 3)).error.code).toBe('NOT_FOUND');
    expect((await refused([directory, '--out', out], 3)).error.code).toBe('WRONG_FILE_TYPE');
    expect((await refused(['x', '--out', 'nosuch://a/b'], 3)).error.code).toBe('UNKNOWN_SCHEME');
  });

  it('writes where --map says', async () => {
    const { directory, document } = await prepared();
    const args = ['assemble', document, '--map', `s3://bucket/chk=${directory}`, '--out', 's3://bucket/chk/new'];
    const { stdout, exitCode } = await runCkpt(args);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^s3:\/\/bucket\/chk\/new: /);
    expect(await isSame(join(directory, 'new'))).toBe(true);
  });
});

describe('a document', () => {
  it.each([
    ['no JSON', 'hello', 'the document'],
    ['nothing', '', 'the document'],
    ['a list', '[]', 'the document'],
    ['null', 'null', 'the document'],
    ['no document of dump', '{}', 'operatorStates'],
    ['an error', '{"error":{}}', 'error'],
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x7b]), 'the document'],
    ['two documents', '{}{}', 'the document'],
  ])('that is %s is refused', async (_, input, field) => {
    const { directory, out } = await prepared();
    const { line, error } = await refused(['-', '--out', join(out, 'deep', '_metadata')], 4, { input });
    expect(error.code).toBe('INVALID_DOCUMENT');
    expect(line.startsWith(`ckpt: ${field}: `)).toBe(true);
    expect(await readdir(directory)).toEqual(['document.json']);
  });

  const keyed = (document: Json): Json =>
    document.operatorStates.find(({ uid }: Json) => uid === 'orders-keyed').subtasks[1].managedKeyedState[0];

  it.each<[what: string, change: (document: Json) => void, field: RegExp]>([
    ['an unknown field', (d) => (d.foo = 1), /^foo$/],
    ['an unknown field of an operator', (d) => (d.operatorStates[2].foo = 1), /^operatorStates\[2\]\.foo$/],
    ['an unknown field of a handle', (d) => (keyed(d).foo = 1), /\.subtasks\[1\]\.managedKeyedState\[0\]\.foo$/],
    ['an unknown field of wire', (d) => (d.wire = { foo: 1 }), /^wire\.foo$/],
    ['a text for a number', (d) => (d.operatorStates[1].maxParallelism = 'x'), /^operatorStates\[1\]\.maxParallelism$/],
    ['a number that is none', (d) => (d.checkpointId = 1.5), /^checkpointId$/],
    ['no checkpoint id', (d) => delete d.checkpointId, /^checkpointId$/],
    ['an unknown kind of handle', (d) => (keyed(d).type = 'Foo'), /managedKeyedState\[0\]\.type$/],
    ['no base64', (d) => (d.wire = { trailingBytes: '!' }), /^wire\.trailingBytes$/],
    [
      'one subtask twice',
      (d) => (d.operatorStates[0].subtasks[1].index = 0),
      /^operatorStates\[0\]\.subtasks\[0\]\.index$/,
    ],
    [
      'properties in wire that are not the visible ones',
      (d) => (d.wire = { properties: 'rO0ABXA=' }),
      /^wire\.properties$/,
    ],
  ])('with %s is refused by the name of the field', async (_, change, field) => {
    const { directory, out } = await prepared();
    const document = JSON.parse(await dumped());
    change(document);
    const { error, line } = await refused(['-', '--out', out], 4, { input: JSON.stringify(document) });
    expect(error.code).toBe('INVALID_DOCUMENT');
    expect(error.data.field).toMatch(field);
    expect(line.startsWith(`ckpt: ${error.data.field}: `)).toBe(true);
    expect(await readdir(directory)).toEqual(['document.json']);
  });

  it('that is cut off in the middle is refused', async () => {
    const { directory, out } = await prepared();
    const { line } = await refused(['-', '--out', out], 4, { input: (await dumped()).slice(0, 3000) });
    expect(line).toContain('the text ends in the middle of the document');
    expect(await readdir(directory)).toEqual(['document.json']);
  });

  it.each<[what: string, change: (document: Json) => void, where: string]>([
    ['a version that nobody knows', (d) => (d.version = 9), 'header'],
    ['a name of 70,000 bytes', (d) => (d.operatorStates[0].name = 'x'.repeat(70_000)), 'operator 0'],
    ['a negative size', (d) => (keyed(d).metaStateHandle.stateSize = -5), 'operatorStates[1].subtasks[1]'],
  ])('that no file can hold is exit 5: %s', async (_, change, where) => {
    const { directory, out } = await prepared();
    const document = JSON.parse(await dumped());
    change(document);
    const { error, line } = await refused(['-', '--out', out], 5, { input: JSON.stringify(document) });
    expect(error).toMatchObject({ code: 'UNWRITABLE_METADATA', data: { record: where } });
    expect(line.startsWith(`ckpt: ${where}: cannot be written: `)).toBe(true);
    expect(await readdir(directory)).toEqual(['document.json']);
  });

  it('may have other values in derived fields, and its fields in another order', async () => {
    const { out } = await prepared();
    const document = JSON.parse(await dumped());
    for (const operator of document.operatorStates) operator.stateSize = 123;
    const reversed = Object.fromEntries(Object.entries(document).reverse());
    const { exitCode } = await runCkpt(['assemble', '-', '--out', out], { input: JSON.stringify(reversed) });
    expect(exitCode).toBe(0);
    expect(await isSame(out)).toBe(true);
  });
});

describe('a run that ends in the middle', () => {
  /** Starts a run that has read half of a big document, and waits until it has begun to write. */
  async function halfway() {
    const directory = await tempDirectory();
    await mkdir(join(directory, 'chk'));
    const child = spawn(process.execPath, [binPath(), 'assemble', '-', '--out', join(directory, 'chk', '_metadata')], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    // It may be killed while it is written to.
    child.stdin.on('error', () => undefined);
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
    });
    const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
    const document = JSON.parse(await dumped());
    const [operator] = document.operatorStates;
    const { operatorStates, ...head } = document;
    const begin = `${JSON.stringify(head).slice(0, -1)},"operatorStates":[${JSON.stringify(operator)},`;
    child.stdin.write(begin);
    child.stdin.write(`${JSON.stringify(operatorStates[1])},`.repeat(400));
    while ((await readdir(join(directory, 'chk'))).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return { child, exit, files: () => readdir(join(directory, 'chk')), said: () => stderr };
  }

  it.each([
    ['SIGINT', 130, 'interrupted'],
    ['SIGTERM', 143, 'terminated'],
  ] as const)('by %s leaves nothing', async (signal, code, message) => {
    const { child, exit, files, said } = await halfway();
    expect(await files()).not.toContain('_metadata');
    child.kill(signal);
    expect(await exit).toBe(code);
    expect(said()).toBe(`ckpt: ${message}\n`);
    expect(await files()).toEqual([]);
  });

  it('by a document that ends there leaves nothing', async () => {
    const { child, exit, files } = await halfway();
    child.stdin.end();
    expect(await exit).toBe(4);
    expect(await files()).toEqual([]);
  });

  it('by a kill leaves nothing under the name of the file', async () => {
    const { child, exit, files } = await halfway();
    child.kill('SIGKILL');
    await exit;
    const left = await files();
    expect(left).not.toContain('_metadata');
    expect(left.every((name) => /^\.ckpt-.*\.tmp$/.test(name))).toBe(true);
  });
});
