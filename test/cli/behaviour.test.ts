import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { repoRoot } from '../support/paths.js';
import { hasTerminal, runInTerminal } from '../support/run-in-terminal.js';

const program = [
  process.execPath,
  '--import',
  'tsx',
  join(repoRoot(), 'test', 'support', 'frame-commands.ts'),
] as const;
const [node, ...script] = program;
const env = { FORCE_COLOR: undefined, NO_COLOR: undefined, FLINK_CONF_DIR: undefined };

async function run(...args: string[]) {
  const result = await execa(node, [...script, ...args], {
    env,
    stdin: 'ignore',
    reject: false,
    stripFinalNewline: false,
  });
  return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode };
}

/** Runs in a pipe to `head -1`, with the exit code of the program on standard error. */
async function runToHead(...args: string[]) {
  const line = `{ "$@"; echo "exit $?" >&2; } | head -1`;
  return execa('sh', ['-c', line, 'sh', ...program, ...args], { env, stdin: 'ignore', reject: false });
}

describe('errors', () => {
  it('name the pointer as the user wrote it', async () => {
    expect(await run('missing', 'data/chk-1/')).toEqual({
      stdout: '',
      stderr: 'ckpt: data/chk-1/: file:/elsewhere: no such file or directory\n',
      exitCode: 3,
    });
  });

  it('of several pointers: the highest code, and an error for each', async () => {
    const { stdout, stderr, exitCode } = await run('pointers', 'ok', 'io', 'gone', 'ok2', '--json');
    expect(exitCode).toBe(3);
    expect(stderr).toBe('ckpt: file:/io: reading failed\nckpt: file:/gone: no such file or directory\n');
    const codes = JSON.parse(stdout).pointers.map(
      ({ error }: { error: { code: string } | null }) => error?.code ?? null,
    );
    expect(codes).toEqual([null, 'IO_ERROR', 'NOT_FOUND', null]);
  });

  it('never spoil a document that has begun', async () => {
    expect(await run('half', '--json')).toEqual({
      stdout: '{"first": 1,',
      stderr: 'ckpt: file:/x: reading failed\n',
      exitCode: 1,
    });
  });

  it.each([
    ['bug', 'oops'],
    ['late-bug', 'late oops'],
    ['rejected', 'nobody waits'],
  ])('that are ours are said to be: %s', async (name, message) => {
    const { stderr, exitCode } = await run(name);
    expect(exitCode).toBe(70);
    expect(stderr).toMatch(new RegExp(`^ckpt: this is a bug of ours.*: ${message}\n    at `));
  });

  it('that are ours have a document', async () => {
    const { stdout, exitCode } = await run('bug', '--json');
    expect(exitCode).toBe(70);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'BUG', message: 'oops' });
  });
});

describe('a reader that leaves', () => {
  it('ends an endless stream, quietly', async () => {
    expect(await runToHead('numbers', '--jsonl')).toMatchObject({ stdout: '{"number":0}', stderr: 'exit 0' });
  });

  it('does not change the verdict', async () => {
    expect(await runToHead('verdict')).toMatchObject({ stdout: 'fault 0', stderr: 'exit 1' });
  });
});

describe('Ctrl-C', () => {
  function start(...args: string[]) {
    const child = spawn(node, [...script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const written = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      written.stdout += String(chunk);
    });
    const waiting = new Map<string, () => void>();
    child.stderr.on('data', (chunk) => {
      written.stderr += String(chunk);
      for (const [text, found] of waiting) if (written.stderr.includes(text)) found();
    });
    return {
      child,
      written,
      says: (text: string) => new Promise<void>((resolve) => waiting.set(text, resolve)),
      exit: new Promise((resolve) => child.on('close', resolve)),
    };
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s lets the command come to a safe point, and is exit %i', async (signal, code) => {
    const { child, written, says, exit } = start('work');
    await says('started');
    child.kill(signal);
    expect(await exit).toBe(code);
    expect(written).toEqual({ stdout: 'stopped at a safe point\n', stderr: 'ckpt: started\nckpt: stopping\n' });
  });

  it('a second time ends it at once', async () => {
    const { child, written, says, exit } = start('work', '--verbose');
    await says('started');
    child.kill('SIGINT');
    await says('stopping');
    child.kill('SIGINT');
    expect(await exit).toBe(130);
    expect(written.stdout).toBe('');
  });
});

describe('confirmation', () => {
  it('is refused without a terminal', async () => {
    const refused = await run('ask');
    expect(refused).toMatchObject({ stdout: 'deletes a, b\n', exitCode: 5 });
    expect(refused.stderr).toMatch(/^ckpt: there is no terminal .*--yes/);
    const document = await run('ask', '--json');
    expect(document).toMatchObject({ exitCode: 5, stderr: `deletes a, b\n${refused.stderr}` });
    expect(JSON.parse(document.stdout).error).toMatchObject({ code: 'REFUSED', data: { reason: 'no-terminal' } });
  });

  it('is not needed with --yes', async () => {
    expect(await run('ask', '-y')).toEqual({ stdout: 'deletes a, b\ndeleted 2 files\n', stderr: '', exitCode: 0 });
  });

  it.runIf(hasTerminal).each([
    ['y\n', 0, 'deleted 2 files'],
    ['\n', 5, 'not confirmed, nothing was changed'],
    ['\u0004', 5, 'not confirmed, nothing was changed'],
    ['\u0003', 130, 'interrupted'],
  ])('on a terminal follows the answer %j', async (keys, exit, said) => {
    const { screen, exitCode } = await runInTerminal([...program, 'ask'], { type: { after: '[y/N]', keys } });
    expect(exitCode).toBe(exit);
    expect(screen).toContain('deletes a, b\n');
    expect(screen).toContain(said);
  });
});

describe.runIf(hasTerminal)('a terminal', () => {
  it('shows progress until it is interrupted, and then is as it was', async () => {
    const { screen, exitCode } = await runInTerminal([...program, 'work'], {
      type: { after: '/4,000', keys: '\u0003' },
    });
    expect(screen).toMatch(/Working [\d,]+\/4,000 \([<\d.]+%\) shared\/a/);
    expect(screen).toContain('stopped at a safe point\n');
    // The cursor that the spinner has hidden.
    expect(screen.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001b[?25l'));
    expect(exitCode).toBe(130);
  });

  it.each([[['-q']], [['--json']]])('shows none with %j', async (args) => {
    expect(await runInTerminal([...program, 'brief', ...args])).toEqual({ screen: '1\n', exitCode: 0 });
  });
});
