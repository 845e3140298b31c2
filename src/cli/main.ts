/**
 * Where `ckpt` starts, and the only place that sets its exit code.
 */
import { createRequire } from 'node:module';
import { commands } from './commands/index.js';
import { createContext } from './context.js';
import { bugLines, errorDocument, errorLines } from './error-report.js';
import { Exit, type ExitCode, exitCodeOf } from './exit-code.js';
import { Output, OutputClosed, standardSink } from './output.js';
import { type CommandLine, jsonWanted, parseCommandLine } from './program.js';
import { type StopSignal, watchSignals } from './signals.js';
import type { CommandGroup, CommandSpec } from './spec.js';
import { decideColor, decideWidth, type Terminal } from './terminal.js';

/**
 * Runs a command line in this process, and sets the exit code of the process when it is done.
 * @param args the arguments without node and script
 * @param specs the commands there are
 */
export async function main(args: readonly string[], specs: readonly CommandSpec[] = commands): Promise<void> {
  const terminal: Terminal = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
  };
  // Nobody may be there to read an error about errors.
  process.stderr.on('error', () => undefined);
  // Node's own exit code for these would be 1, which means something else here.
  process.on('uncaughtException', (error) => {
    process.stderr.write(bugLines(error));
    process.exit(Exit.Bug);
  });
  const output = new Output(standardSink(process.stdout, 1));
  const signals = watchSignals(process, (signal) => process.exit(exitOfSignal(signal)));
  signals.signal.addEventListener('abort', () => {
    // Whoever sees nothing happen should know why, and what would help.
    const text = 'ckpt: stopping at the next safe point; Ctrl-C once more ends it at once\n';
    if (terminal.stderr.isTTY) setTimeout(() => terminal.stderr.write(text), PATIENCE_MILLISECONDS).unref();
  });
  const exit = await run(args, { terminal, output, specs, signal: signals.signal });
  const stopped = signals.received !== undefined && exit !== Exit.Bug;
  process.exitCode = stopped ? exitOfSignal(signals.received) : exit;
  // A request that was given up may still keep the process alive; whoever pressed Ctrl-C does not wait for it.
  if (signals.received !== undefined) process.exit();
  signals.dispose();
}

/** What a run is connected to. */
export interface RunParts {
  readonly terminal: Terminal;
  readonly output: Output;
  readonly specs: readonly CommandSpec[];
  readonly signal: AbortSignal;
}

/** Runs a command line and resolves to its exit code when all output was taken. Never rejects. */
export async function run(args: readonly string[], parts: RunParts): Promise<ExitCode> {
  const { terminal, output } = parts;
  let style: FailureStyle = { json: jsonWanted(args), verbose: false };
  let exit: ExitCode;
  let failure: unknown;
  try {
    const line = parse(args, parts);
    if (line.kind === 'run') style = failureStyle(line);
    exit = await runCommandLine(line, parts);
  } catch (error) {
    failure = error;
    exit = await reportFailure(error, style, parts);
  }
  try {
    await output.flush();
  } catch (error) {
    if (error instanceof OutputClosed || error === failure) return exit;
    terminal.stderr.write(errorLines(error, { verbose: style.verbose }));
    return exit === Exit.Ok ? exitCodeOf(error) : exit;
  }
  return exit;
}

function parse(args: readonly string[], { terminal, specs }: RunParts): CommandLine {
  const { stdout, environment } = terminal;
  const refused = args.includes('--no-color');
  return parseCommandLine(args, specs, {
    version: packageVersion,
    width: decideWidth(stdout),
    color: decideColor({ isTTY: stdout.isTTY === true, environment, refused }),
  });
}

/** Most commands end well before. */
const PATIENCE_MILLISECONDS = 700;

/** Commands that change nothing. */
const READING_GROUPS: ReadonlySet<CommandGroup> = new Set<CommandGroup>(['Inspect', 'State contents', 'Other']);

async function runCommandLine(line: CommandLine, parts: RunParts): Promise<ExitCode> {
  const { terminal, output, signal } = parts;
  if (line.kind === 'print') {
    if (line.to === 'stdout') await output.write(line.text);
    else terminal.stderr.write(line.text);
    return line.exit;
  }
  const { spec, globals } = line;
  const { options } = line;
  const onlyReads = READING_GROUPS.has(spec.group) || options.dryRun === true || spec.onlyReads?.(options) === true;
  const context = createContext({ terminal, output, globals, signal, clock: Date, onlyReads });
  try {
    const { run: command } = await spec.load();
    // The options were parsed by the very spec that `command` was written for.
    return await command(context, line.args, line.options as never);
  } finally {
    context.close();
  }
}

/** How the failure of a run is told. */
interface FailureStyle {
  readonly json: boolean;
  readonly verbose: boolean;
  /** What it is about, if the user named one thing only. */
  readonly pointer?: string | undefined;
}

function failureStyle({ spec, args, globals }: Extract<CommandLine, { kind: 'run' }>): FailureStyle {
  const one = /^[<[](pointer|root)/.test(spec.args ?? '') && args.length === 1;
  return { json: globals.json || globals.jsonl, verbose: globals.verbose, pointer: one ? args[0] : undefined };
}

async function reportFailure(error: unknown, style: FailureStyle, parts: RunParts): Promise<ExitCode> {
  if (error instanceof OutputClosed) return Exit.Ok;
  const { terminal, output } = parts;
  const exit = exitCodeOf(error);
  if (exit === Exit.Bug) {
    terminal.stderr.write(bugLines(error));
  } else {
    const named = exit !== Exit.Usage && exit < Exit.Bug;
    terminal.stderr.write(errorLines(error, { verbose: style.verbose, pointer: named ? style.pointer : undefined }));
  }
  // After half a document a second one would only spoil what is there.
  if (style.json && !output.started) {
    const indent = terminal.stdout.isTTY === true ? 2 : 0;
    // A failure of the output stays and is met by the last flush; the exit code is that of the error.
    for (const piece of errorDocument(error, { indent })) {
      await output.write(piece).catch(() => undefined);
    }
  }
  return exit;
}

function exitOfSignal(signal: StopSignal): ExitCode {
  return signal === 'SIGINT' ? Exit.Interrupted : Exit.Terminated;
}

function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('flink-ckpt/package.json');
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}
