import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/index.js';
import { binPath, repoRoot } from '../support/paths.js';
import { runCkpt } from '../support/run-ckpt.js';
import { tempDirectory } from '../support/temp.js';

describe('help and version', () => {
  it('ckpt alone is wrong use, with the help on standard error', async () => {
    const alone = await runCkpt([]);
    expect(alone).toMatchObject({ stdout: '', exitCode: 2 });
    expect(alone.stderr).toMatch(/^Usage: ckpt /);
    const help = await runCkpt(['--help']);
    expect(help).toMatchObject({ stdout: alone.stderr, stderr: '', exitCode: 0 });
  });

  it.each(commands.map(({ name }) => name))('ckpt help %s names options, examples and exit codes', async (name) => {
    const help = await runCkpt(['help', name]);
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    expect(help.stdout).toMatch(new RegExp(`^Usage: ckpt ${name} `));
    expect(help.stdout).toContain('\nEverywhere:\n');
    expect(help.stdout).toContain('\nExamples:\n');
    expect(help.stdout).toMatch(/\nExit codes:\n {2}0 {4}/);
    expect((await runCkpt([name, '--help'])).stdout).toBe(help.stdout);
    expect(Math.max(...help.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it.each([[['--version']], [['-V']], [['-q', '--version']]])('%j prints the version of the package', async (args) => {
    const { version } = JSON.parse(await readFile(join(repoRoot(), 'package.json'), 'utf8'));
    expect(await runCkpt(args)).toMatchObject({ stdout: `${version}\n`, stderr: '', exitCode: 0 });
  });
});

describe('wrong use', () => {
  it.each([
    [['uidd', 'x'], "ckpt: unknown command 'uidd'; did you mean uid?\n"],
    [['help', 'uidd'], "ckpt: unknown command 'uidd'; did you mean uid?\n"],
    [['uid', 'x', '--jason'], "ckpt: unknown option '--jason'; did you mean --json?\n"],
    [['uid'], "ckpt: missing required argument 'uid'\n"],
    [
      ['uid', 'x', '-D', 's3.secret-key:hunter2'],
      'ckpt: -D takes key=value, but "s3.secret-key…" has no key and "="\n',
    ],
    [['uid', 'x', '--map', 'a'], 'ckpt: --map: "a" is not OLD=NEW\n'],
  ])('%j is exit 2 and one line', async (args, stderr) => {
    expect(await runCkpt(args)).toMatchObject({ stdout: '', stderr, exitCode: 2 });
  });

  it.each([[['--json', 'nope']], [['uid', '--json']], [['--json']]])('%j is a document as well', async (args) => {
    const result = await runCkpt(args);
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toMatch(/^ckpt: .*\n$/);
    const document = JSON.parse(result.stdout);
    expect(Object.keys(document)).toEqual(['error']);
    expect(document.error).toMatchObject({ code: 'USAGE', message: expect.any(String), data: {}, causes: [] });
    expect(result.stderr).toBe(`ckpt: ${document.error.message}\n`);
  });
});

describe('colour', () => {
  it.each([
    [{}, [], false],
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
    [{ FORCE_COLOR: '1' }, ['--no-color'], false],
    [{ FORCE_COLOR: '0' }, [], false],
  ])('with %o and %j: %s', async (env, args, colored) => {
    const { stdout, stderr, exitCode } = await runCkpt([...args, '--help'], { env });
    expect({ stderr, exitCode, colored: stdout.includes('\u001b') }).toEqual({ stderr: '', exitCode: 0, colored });
  });
});

describe('standard output', () => {
  const shell = (script: string) =>
    execa('sh', ['-c', script], {
      env: { NODE: process.execPath, CKPT: binPath() },
      reject: false,
      stripFinalNewline: false,
    });

  it('may be closed by its reader', async () => {
    const script = 'seq 200000 | { "$NODE" "$CKPT" uid -; echo "exit $?" >&2; } | head -1';
    const { stdout, stderr } = await shell(script);
    expect(stdout).toMatch(/^[0-9a-f]{32} {2}1\n$/);
    expect(stderr).toBe('exit 0\n');
  });

  it('may be closed from the beginning', async () => {
    const { stderr, exitCode } = await shell('"$NODE" "$CKPT" uid a >&-');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  it('on a full disk is an error', async () => {
    const { stderr, exitCode } = await shell('"$NODE" "$CKPT" uid a > /dev/full');
    expect(stderr).toMatch(/^ckpt: standard output: writing failed: ENOSPC.*\n {2}caused by: ENOSPC.*\n$/);
    expect(exitCode).toBe(1);
  });

  it('is complete in a file, a pipe and a file that is appended to', async () => {
    const directory = await tempDirectory();
    const out = join(directory, 'out');
    const { stdout } = await shell('seq 100000 | "$NODE" "$CKPT" uid - | cat');
    expect(stdout.split('\n')).toHaveLength(100_001);
    await writeFile(out, 'before\n');
    await execa('sh', ['-c', `seq 100000 | "$NODE" "$CKPT" uid - >> "${out}"`], {
      env: { NODE: process.execPath, CKPT: binPath() },
    });
    expect(await readFile(out, 'utf8')).toBe(`before\n${stdout}`);
  });
});

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a command that waits for input, with %i', async (signal, code) => {
    const child = spawn(process.execPath, [binPath(), 'uid', '-', '--json'], { stdio: ['pipe', 'pipe', 'pipe'] });
    const written = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      written.stdout += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      written.stderr += String(chunk);
    });
    const exit = new Promise((resolve) => child.on('close', resolve));
    // More than a pipe holds: when all of it was taken, the command is reading.
    await new Promise((resolve) => child.stdin.write('a'.repeat(4_000_000), resolve));
    child.kill(signal);
    expect(await exit).toBe(code);
    const message = signal === 'SIGINT' ? 'interrupted' : 'terminated';
    expect(written.stderr).toBe(`ckpt: ${message}\n`);
    expect(JSON.parse(written.stdout)).toMatchObject({ error: { code: 'INTERRUPTED', message, data: { signal } } });
  });
});
