import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Context, createContext, type GlobalOptions } from '../../../src/cli/context.js';
import { Output, OutputClosed } from '../../../src/cli/output.js';
import { NotFoundError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';

interface Setup {
  readonly globals?: Partial<GlobalOptions>;
  readonly stdoutColumns?: number;
  readonly stderrIsTerminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly closed?: boolean;
}

function setUp(setup: Setup = {}) {
  const written = { stdout: '', stderr: '' };
  const stdin = new PassThrough();
  stdin.end(setup.input ?? '');
  const stderr = new PassThrough();
  stderr.on('data', (chunk) => {
    written.stderr += String(chunk);
  });
  const output = new Output(async (chunk) => {
    if (setup.closed === true) throw new OutputClosed();
    written.stdout += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  });
  const columns = setup.stdoutColumns;
  const stdout = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns });
  const context: Context = createContext({
    terminal: {
      stdin,
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: Object.assign(stderr, { isTTY: setup.stderrIsTerminal ?? false }) as unknown as NodeJS.WriteStream,
      environment: setup.environment ?? {},
    },
    output,
    globals: {
      json: false,
      jsonl: false,
      quiet: false,
      verbose: false,
      color: true,
      definitions: [],
      configurationDirectory: undefined,
      mappings: [],
      requests: undefined,
      aliases: [],
      ...setup.globals,
    },
    signal: new AbortController().signal,
    clock: { now: () => 1000 },
    onlyReads: true,
  });
  return { context, written, output };
}

const render = ({ size }: { size: number }): string => `size ${size}\n`;

describe('emit', () => {
  it('prints the text', async () => {
    const { context, written } = setUp();
    await context.emit({ size: 1 }, render);
    expect(written.stdout).toBe('size 1\n');
  });

  it('prints the text piece by piece', async () => {
    const { context, written } = setUp();
    await context.emit([1, 2], (numbers) => numbers.map((number) => `${number}\n`));
    expect(written.stdout).toBe('1\n2\n');
  });

  it('prints the document instead, indented only on a terminal', async () => {
    const piped = setUp({ globals: { json: true } });
    await piped.context.emit({ size: 1n }, () => expect.unreachable());
    expect(piped.written.stdout).toBe('{"size":1}\n');
    const terminal = setUp({ globals: { json: true }, stdoutColumns: 80 });
    await terminal.context.emit({ size: 1n }, () => expect.unreachable());
    expect(terminal.written.stdout).toBe('{\n  "size": 1\n}\n');
  });

  it('happens once', async () => {
    const { context } = setUp();
    await context.emit({ size: 1 }, render);
    await expect(context.emit({ size: 1 }, render)).rejects.toThrow('one result');
  });

  it('does not mind that nobody reads; the stream does', async () => {
    const { context } = setUp({ closed: true });
    await context.emit({ size: 1 }, render);
    await expect(context.stream.write('x')).rejects.toThrow(OutputClosed);
  });

  it('tells the renderer where its text goes', async () => {
    const { context } = setUp({ stdoutColumns: 100, globals: { verbose: true }, environment: { NO_COLOR: '1' } });
    const view = await context.view();
    expect(view).toMatchObject({ width: 100, now: 1000, verbose: true });
    expect(view.style.bad('x')).toBe('x');
    const colored = await setUp({ stdoutColumns: 100 }).context.view();
    expect(colored.style.bad('x')).toContain('\u001b[');
    expect((await setUp().context.view()).width).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('preview', () => {
  it('stands on standard output, or beside a document on standard error', async () => {
    const text = setUp();
    await text.context.preview({ size: 1 }, render);
    await text.context.emit({ size: 2 }, render);
    expect(text.written).toEqual({ stdout: 'size 1\nsize 2\n', stderr: '' });

    const json = setUp({ globals: { json: true } });
    await json.context.preview({ size: 1 }, render);
    await json.context.emit({ size: 2 }, render);
    expect(json.written).toEqual({ stdout: '{"size":2}\n', stderr: 'size 1\n' });
  });
});

describe('stream', () => {
  it('takes chunks and JSON lines from whatever gives them', async () => {
    const { context, written, output } = setUp();
    async function* values() {
      yield { b: 2n };
    }
    await context.stream.pipe(['a', new TextEncoder().encode('b\n')]);
    await context.stream.jsonLine({ a: 1 });
    await context.stream.jsonLines(values());
    await output.flush();
    expect(written.stdout).toBe('ab\n{"a":1}\n{"b":2}\n');
  });
});

describe('notes', () => {
  function notes(globals: Partial<GlobalOptions>): string {
    const { context, written } = setUp({ globals });
    context.warn('w\u0007');
    context.info('i');
    context.detail('d');
    return written.stderr;
  }

  it('go to standard error, as many as are wanted', async () => {
    expect(notes({})).toBe('ckpt: warning: w\\x07\nckpt: i\n');
    expect(notes({ quiet: true })).toBe('');
    expect(notes({ verbose: true })).toBe('ckpt: warning: w\\x07\nckpt: i\nckpt: d\n');
  });

  it('report the failure of one pointer', () => {
    const { context, written } = setUp({ globals: { quiet: true } });
    const { exit, body } = context.report(new NotFoundError('file:/x'), 'x/');
    expect(exit).toBe(3);
    expect(body).toMatchObject({ code: 'NOT_FOUND', message: 'file:/x: no such file or directory' });
    expect(written.stderr).toBe('ckpt: file:/x: no such file or directory\n');
    expect(() => context.report(new TypeError('bug'))).toThrow(TypeError);
  });
});

it('reads standard input', async () => {
  const lines: string[] = [];
  for await (const line of setUp({ input: 'a\nb\n' }).context.stdinLines()) lines.push(line);
  expect(lines).toEqual(['a', 'b']);
  const bytes: Uint8Array[] = [];
  for await (const chunk of setUp({ input: 'ab' }).context.stdin()) bytes.push(chunk);
  expect(Buffer.concat(bytes).toString()).toBe('ab');
});

it('has the configuration of the command line and of the environment', async () => {
  const { context } = setUp({ globals: { definitions: [['execution.checkpointing.dir', 's3://b/c']] } });
  expect((await context.configuration()).checkpointDirectory).toBe('s3://b/c');
  expect(context.configuration()).toBe(context.configuration());
  const missing = setUp({ environment: { FLINK_CONF_DIR: '/nonexistent' } });
  await missing.context.configuration();
  expect(missing.written.stderr).toMatch(/^ckpt: warning: .*FLINK_CONF_DIR/);
});

it('looks up mapped paths at their new place', async () => {
  const { context } = setUp({ globals: { mappings: ['s3://b=file:/mirror'], aliases: [['s3', 's3a']] } });
  const fileSystems = await context.fileSystems();
  expect(fileSystems.lookUp(Path.parse('s3://b/chk-1')).toString()).toBe('file:/mirror/chk-1');
  expect((await context.pathMapping()).isEmpty).toBe(false);
  expect(await context.fileSystems()).toBe(fileSystems);
  expect(context.aliases).toEqual([['s3', 's3a']]);
});

it('asks nobody without a terminal', async () => {
  const { context } = setUp({ stderrIsTerminal: true });
  expect(context.canAsk).toBe(false);
  expect(await context.confirm('Go on?')).toBe(false);
});
