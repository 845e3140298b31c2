import { execa } from 'execa';
import { binPath } from './paths.js';

/** How the binary is run; everything has a default. */
export interface RunCkptOptions {
  /** What the binary reads from its standard input. Not together with `stdin`. */
  readonly input?: string | Uint8Array;
  /** Where standard input comes from if there is no `input`: nothing (the default) or a pipe that stays open. */
  readonly stdin?: 'ignore' | 'pipe';
  /** Added to the environment of the tests; `undefined` takes a variable out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The working directory; by default that of the tests. */
  readonly cwd?: string;
  /** Arguments for node itself, before the script. */
  readonly nodeOptions?: readonly string[];
  /** Sends SIGTERM when it aborts. */
  readonly signal?: AbortSignal;
  /** Runs as this user and group; only root can do that. */
  readonly uid?: number;
}

/** What the binary did. */
export interface CkptResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined if a signal ended the process. */
  readonly exitCode: number | undefined;
  /** The signal that ended the process, if one did. */
  readonly signal: string | undefined;
}

/**
 * Runs the built `ckpt` without a terminal and waits for its end. Never throws because of an exit code. Output is
 * complete: no final newline is stripped. `FORCE_COLOR`, `NO_COLOR` and `FLINK_CONF_DIR` of the caller are not passed on.
 */
export async function runCkpt(args: readonly string[], options: RunCkptOptions = {}): Promise<CkptResult> {
  const result = await execa(process.execPath, [...(options.nodeOptions ?? []), binPath(), ...args], {
    ...(options.input === undefined ? { stdin: options.stdin ?? 'ignore' } : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    env: { FORCE_COLOR: undefined, NO_COLOR: undefined, FLINK_CONF_DIR: undefined, ...options.env },
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 256 * 1024 * 1024,
  });
  return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode, signal: result.signal };
}
