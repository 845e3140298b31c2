/** Measures whole processes. Everything is compared within one run on one machine: no figure means anything by itself. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** The root of the repository. */
export const repositoryRoot = join(here, '..', '..');

/** One measured command. */
export interface Measurement {
  /** The fastest of the runs, in ms: the others were disturbed. */
  readonly milliseconds: number;
  /** The largest resident set of any run, in bytes; undefined for a program that is not Node. */
  readonly peakBytes: number | undefined;
}

/** What to measure. */
export interface MeasureOptions {
  readonly runs?: number;
  /** Called before each run, not measured. */
  readonly before?: () => void;
  /** Exit codes that are no failure; default 0 alone. */
  readonly exitCodes?: readonly number[];
}

/** Arguments of `node` for `ckpt`. */
export function ckpt(...args: string[]): string[] {
  return [join(repositoryRoot, 'bin', 'ckpt.js'), ...args];
}

/** Runs `node` with these arguments several times, output thrown away. */
export async function measureNode(args: readonly string[], options: MeasureOptions = {}): Promise<Measurement> {
  const directory = mkdtempSync(join(tmpdir(), 'ckpt-bench-'));
  const usage = join(directory, 'usage.json');
  try {
    const plain = await measure(process.execPath, args, options);
    // Apart from the runs that are timed: loading the reporter takes time.
    options.before?.();
    await run(process.execPath, ['--import', join(here, 'report-usage.mjs'), ...args], options, {
      CKPT_BENCH_USAGE: usage,
    });
    const { maxRss } = JSON.parse(readFileSync(usage, 'utf8')) as { maxRss: number };
    return { ...plain, peakBytes: maxRss };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs any program several times, output thrown away. */
export async function measure(
  command: string,
  args: readonly string[],
  options: MeasureOptions = {},
): Promise<Measurement> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < (options.runs ?? 5); i++) {
    options.before?.();
    best = Math.min(best, await run(command, args, options, {}));
  }
  return { milliseconds: best, peakBytes: undefined };
}

function run(
  command: string,
  args: readonly string[],
  options: MeasureOptions,
  env: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
      if (code !== null && (options.exitCodes ?? [0]).includes(code)) resolve(milliseconds);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code}: ${errors}`));
    });
  });
}

/** Bare Node, the floor under everything. */
export function measureBareNode(): Promise<Measurement> {
  return measureNode(['-e', '0'], { runs: 10 });
}

/** A line of results. */
export function report(what: string, { milliseconds, peakBytes }: Measurement, ...notes: string[]): void {
  const memory = peakBytes === undefined ? '' : `${(peakBytes / 1e6).toFixed(0)} MB peak`;
  console.log([what.padEnd(52), `${milliseconds.toFixed(0)} ms`.padStart(9), memory.padStart(12), ...notes].join('  '));
}

/** E.g. `2.1x rm -rf`. */
export function ratio(a: number, b: number, of: string): string {
  return `${(a / b).toFixed(2)}x ${of}`;
}
