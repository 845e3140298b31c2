/**
 * What a command is, as plain data: enough to parse its arguments and print its help. The work lies in another module that
 * `load` imports when the command was chosen, so that starting `ckpt` loads specs and nothing else.
 */
import type { Context } from './context.js';
import type { ExitCode } from './exit-code.js';

/**
 * The work of a command: asks `operations/`, prints through the context, returns an exit code. Errors are thrown; the frame
 * prints them and maps them to an exit code.
 * `args` are the arguments as given (a variadic argument contributes each of its values), `options` the camel-cased options
 * of the spec: a repeatable one is always an array, a flag that was not given is absent.
 */
export type Run<O = Record<string, never>> = (
  context: Context,
  args: readonly string[],
  options: O,
) => Promise<ExitCode>;

/** Heading under which a command stands in `ckpt --help`. */
export type CommandGroup = 'Inspect' | 'State contents' | 'Create and change' | 'Clean up' | 'Other';

/** One option of a command. */
export interface OptionSpec {
  /** As commander writes them: `-y, --yes`, `--job <id>`, `--no-x`. */
  readonly flags: string;
  /** One sentence without a full stop. */
  readonly description: string;
  /**
   * Turns the text into a value (see `options.ts`).
   * @throws UsageError if the text makes no sense; the frame adds which option it was
   */
  readonly parse?: (text: string) => unknown;
  /** May be given again; the values are collected in an array, which is empty if it was not given. */
  readonly repeatable?: boolean;
  /** The only values allowed; not together with `parse` or `repeatable`. */
  readonly choices?: readonly string[];
  /** Value if the option is not given. */
  readonly default?: unknown;
  /** How help shows the default, where the value itself is no good text (`1d` for 86400000). */
  readonly defaultText?: string;
  /** Camel-cased names of options that make no sense together with this one. */
  readonly conflicts?: readonly string[];
  /** Exit 2 if the option is missing. */
  readonly required?: boolean;
  /** Heading of this option in the help of the command; default `Options`. */
  readonly group?: string;
}

/** One example of the help text. */
export interface ExampleSpec {
  /** The whole command line, with `ckpt`. */
  readonly command: string;
  /** What it does, as a phrase. */
  readonly note: string;
}

/** An exit code that a command can give, alone or with its own words for what it means there. */
export type ExitSpec = ExitCode | readonly [code: ExitCode, meaning: string];

/** One command. */
export interface CommandSpec {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: CommandGroup;
  /** Arguments as commander writes them: `<pointer> [operator]`, `<root...>`. */
  readonly args?: string;
  /** What each argument is, by its name without brackets. */
  readonly argumentNotes?: Readonly<Record<string, string>>;
  /** One line for the list of commands, without a full stop. */
  readonly summary: string;
  /** Paragraphs for the command's own help; default the summary. */
  readonly description?: string;
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly ExampleSpec[];
  /** What it can exit with, printed in its help. `Exit.Usage` needs no mention. */
  readonly exits: readonly ExitSpec[];
  /** Takes `--jsonl` as well as `--json`. */
  readonly jsonl?: boolean;
  /** Deletes or moves: takes `--dry-run`, `--yes`, `--plan-out`, `--plan` and `--log` (see {@link DestructiveOptions}). */
  readonly destructive?: boolean;
  /** True if these options let a command that may change something change nothing. `--dry-run` always does. */
  readonly onlyReads?: (options: Readonly<Record<string, unknown>>) => boolean;
  /** Imports the work. Must be a dynamic import of another module. */
  readonly load: () => Promise<{ readonly run: Run<never> }>;
}

/** The options that every destructive command has. */
export interface DestructiveOptions {
  /** Print the plan and stop. */
  readonly dryRun?: true;
  /** Do not ask. */
  readonly yes?: true;
  /** File to save the plan to. */
  readonly planOut?: string;
  /** File with the plan to carry out. */
  readonly plan?: string;
  /** File to append each deletion to. */
  readonly log?: string;
}
