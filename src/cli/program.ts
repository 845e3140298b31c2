/**
 * The command line as commander sees it: built from specs, parsed into what is to be run. Nothing runs and nothing is
 * printed here.
 */
import { Argument, Command, CommanderError, Option } from 'commander';
import { UsageError } from '../errors.js';
import { parseDefinitions } from './configuration.js';
import type { GlobalOptions } from './context.js';
import { Exit, type ExitCode } from './exit-code.js';
import { configureHelp, helpWidth } from './help.js';
import { integerParser, parseAssignment, parseList } from './options.js';
import { commandOptions, globalOptions, type SharedOption } from './shared-options.js';
import type { CommandSpec, OptionSpec } from './spec.js';

/** What a command line asks for: a command to run, or a text to print. */
export type CommandLine =
  | {
      readonly kind: 'run';
      readonly spec: CommandSpec;
      readonly args: readonly string[];
      readonly options: Readonly<Record<string, unknown>>;
      readonly globals: GlobalOptions;
    }
  | { readonly kind: 'print'; readonly to: 'stdout' | 'stderr'; readonly text: string; readonly exit: ExitCode };

const fromUser = { from: 'user' } as const;

/** What the help and the version need to know. */
export interface ProgramSurroundings {
  /** Reads the version of the package; called only if it is asked for. */
  readonly version: () => string;
  /** Columns for help on standard output. */
  readonly width: number;
  /** Whether headings may be bold. */
  readonly color: boolean;
}

/**
 * Understands a command line.
 * @param args the arguments without node and script
 * @throws UsageError for anything commander refuses: an unknown command or option (with what may have been meant), a
 *   missing argument, a bad value, options that exclude each other
 */
export function parseCommandLine(
  args: readonly string[],
  specs: readonly CommandSpec[],
  surroundings: ProgramSurroundings,
): CommandLine {
  let printed = '';
  let chosen: CommandLine | undefined;
  const program = new Command('ckpt');
  program.exitOverride();
  program.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
    // Errors are thrown, and printed by the frame.
    writeErr: () => undefined,
    getOutHelpWidth: () => helpWidth(surroundings.width),
    getErrHelpWidth: () => helpWidth(surroundings.width),
    getOutHasColors: () => surroundings.color,
  });
  configureHelp(program, specs);
  program.enablePositionalOptions();
  program.helpCommand(false);
  program.helpOption('-h, --help', 'Show this help');
  program.usage('<command> [arguments] [options]');
  for (const option of globalOptions) program.addOption(toOption(option));
  program.addOption(new Option('-V, --version', 'Print the version').helpGroup('Everywhere:'));
  program.on('option:version', () => {
    printed = `${surroundings.version()}\n`;
    throw new CommanderError(0, 'commander.version', '');
  });

  for (const spec of specs) {
    const command = addCommand(program, spec);
    command.action((...values: unknown[]) => {
      chosen = toRun(spec, program, command, values);
    });
  }
  let helpFor: string | undefined;
  program
    .command('help [command]')
    .summary('Show the help of a command')
    .helpGroup('Other:')
    .helpOption(false)
    .action((name: string | undefined) => {
      helpFor = name;
      if (name === undefined) program.outputHelp();
    });

  try {
    program.parse([...args], fromUser);
    // Help of a command is what the command says to --help; an unknown one is refused, with a suggestion.
    if (helpFor !== undefined) program.parse(isKnown(program, helpFor) ? [helpFor, '--help'] : [helpFor], fromUser);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const [name] = program.args;
    if (
      error.code === 'commander.helpDisplayed' &&
      name !== undefined &&
      !name.startsWith('-') &&
      !isKnown(program, name)
    ) {
      return parseCommandLine([name], specs, surroundings);
    }
    if (error.code === 'commander.help' && !jsonWanted(args)) {
      return { kind: 'print', to: 'stderr', text: plainHelp(program), exit: Exit.Usage };
    }
    if (error.exitCode !== 0) throw new UsageError(usageMessage(error), { reason: error.code });
  }
  return chosen ?? { kind: 'print', to: 'stdout', text: printed, exit: Exit.Ok };
}

/** Whether a command line asks for JSON, readable or not: an error in it must be a document as well. */
export function jsonWanted(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  return before.includes('--json') || before.includes('--jsonl');
}

function addCommand(program: Command, spec: CommandSpec): Command {
  const command = program
    .command(spec.name)
    .summary(spec.summary)
    .description(spec.description ?? `${spec.summary}.`)
    .usage([spec.args, '[options]'].filter(Boolean).join(' '))
    .helpGroup(`${spec.group}:`)
    .helpOption('-h, --help', 'Show this help');
  for (const alias of spec.aliases ?? []) command.alias(alias);
  for (const part of spec.args?.split(' ') ?? []) {
    command.addArgument(new Argument(part, spec.argumentNotes?.[part.replace(/[<>[\].]/g, '')]));
  }
  for (const option of commandOptions(spec)) command.addOption(toOption(option));
  return command;
}

function toOption(spec: OptionSpec): Option {
  const option = new Option(
    spec.flags,
    spec.repeatable === true ? `${spec.description} (repeatable)` : spec.description,
  );
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.conflicts !== undefined) option.conflicts([...spec.conflicts]);
  if (spec.required === true) option.makeOptionMandatory();
  if (spec.default !== undefined || spec.defaultText !== undefined) option.default(spec.default, spec.defaultText);
  if (spec.group !== undefined) option.helpGroup(`${spec.group}:`);
  const { parse, repeatable } = spec;
  if (parse !== undefined || repeatable === true) {
    option.argParser((text: string, previous: unknown) => {
      const value = parse === undefined ? text : parsed(spec.flags, parse, text);
      if (repeatable !== true) return value;
      return Array.isArray(previous) ? [...previous, value] : [value];
    });
  }
  return option;
}

function toRun(spec: CommandSpec, program: Command, command: Command, values: readonly unknown[]): CommandLine {
  const given: Record<string, unknown> = command.opts();
  const options: Record<string, unknown> = {};
  const specs = commandOptions(spec);
  for (const option of specs) {
    const name = new Option(option.flags).attributeName();
    const value = given[name];
    if (isShared(option)) continue;
    if (option.repeatable === true) options[name] = value ?? [];
    else if (value !== undefined) options[name] = value;
  }
  const globals = mergeGlobals(program.opts(), given);
  if (globals.json && globals.jsonl) throw new UsageError('--json and --jsonl exclude each other');
  if (globals.jsonl && spec.jsonl !== true) throw new UsageError(`ckpt ${spec.name} has no --jsonl`);
  const args = values.slice(0, command.registeredArguments.length).flat();
  return {
    kind: 'run',
    spec,
    args: args.filter((value) => typeof value === 'string'),
    options,
    globals,
  };
}

function isShared(option: OptionSpec): option is SharedOption {
  return 'shared' in option;
}

/** Options given before the command name count as much as those after it. */
function mergeGlobals(before: Record<string, unknown>, after: Record<string, unknown>): GlobalOptions {
  const flag = (name: string): boolean => before[name] === true || after[name] === true;
  const all = (name: string): string[] =>
    [before[name], after[name]].flat().filter((value) => typeof value === 'string');
  const mappings = all('map');
  // What they mean depends on the file systems; what they look like is checked at once, whatever the command.
  for (const mapping of mappings) parsed('--map', parseAssignment, mapping);
  return {
    json: flag('json'),
    jsonl: flag('jsonl'),
    quiet: flag('quiet'),
    verbose: flag('verbose'),
    color: before.color !== false && after.color !== false,
    definitions: parseDefinitions(all('D')),
    configurationDirectory: all('confDir').at(-1),
    mappings,
    aliases: all('alias').map((schemes) => parsed('--alias', parseList, schemes)),
    requests: all('requests')
      .map((text) => parsed('--requests', integerParser({ minimum: 1, maximum: 1000 }), text))
      .at(-1),
  };
}

/** A value with the name of its option in front of what is wrong with it. */
function parsed<T>(option: string, parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${option}: ${error.message}`, error.data) : error;
  }
}

function isKnown(program: Command, name: string): boolean {
  return program.commands.some((command) => command.name() === name || command.aliases().includes(name));
}

/** The help as it is for a stream that shows no bold text. */
function plainHelp(program: Command): string {
  return program.helpInformation({ error: true });
}

/** Commander's message on one line, without its prefix. */
function usageMessage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'no command was given';
  return error.message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\?\)/, '; did you mean $1?')
    .replaceAll('\n', ' ')
    .trim();
}
