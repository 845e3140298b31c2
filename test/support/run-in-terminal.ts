import { execa, execaSync } from 'execa';

/** Whether this machine has `script` of util-linux, which lends a program a terminal. */
export const hasTerminal =
  execaSync('script', ['--version'], { reject: false }).stdout?.includes('util-linux') === true;

/** How a command is run; everything has a default. */
export interface RunInTerminalOptions {
  /** What is typed as soon as a text has appeared: `\u0003` is Ctrl-C, `\u0004` Ctrl-D. */
  readonly type?: { readonly after: string; readonly keys: string };
  /** Default 80. */
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What appeared on the terminal, what was typed included, and how the command ended. */
export interface TerminalResult {
  /** With plain line ends. */
  readonly screen: string;
  readonly exitCode: number | undefined;
}

/** Runs a command with all three standard streams on a terminal. Only where {@link hasTerminal}. */
export async function runInTerminal(
  command: readonly string[],
  options: RunInTerminalOptions = {},
): Promise<TerminalResult> {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  const line = `stty cols ${options.columns ?? 80}; exec ${quoted}`;
  const running = execa('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    stdin: 'pipe',
    env: {
      FORCE_COLOR: undefined,
      NO_COLOR: undefined,
      FLINK_CONF_DIR: undefined,
      CI: undefined,
      TERM: 'xterm',
      ...options.env,
    },
    reject: false,
    stripFinalNewline: false,
  });
  const { type } = options;
  let seen = '';
  let typed = type === undefined;
  running.stdout.on('data', (chunk) => {
    seen += String(chunk);
    if (typed || type === undefined || !seen.includes(type.after)) return;
    typed = true;
    running.stdin.write(type.keys);
  });
  const { stdout, exitCode } = await running;
  return { screen: stdout.replaceAll('\r\n', '\n'), exitCode };
}
