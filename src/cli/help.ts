/**
 * What `--help` looks like: commander's parts in our order, with examples and exit codes below.
 */
import type { Command, Help } from 'commander';
import { Exit, exitMeanings } from './exit-code.js';
import type { CommandSpec, ExitSpec } from './spec.js';

/** Help is never wider than this: long lines are hard to read. */
const widest = 100;

/** The width of help on a stream of this many columns; 80 where nothing limits it. */
export function helpWidth(columns: number): number {
  return Number.isFinite(columns) ? Math.min(columns, widest) : 80;
}

/** Makes a program print its help, and that of its commands, in our layout. */
export function configureHelp(program: Command, specs: readonly CommandSpec[]): void {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  program.configureHelp({
    subcommandTerm: (command) => [command.name(), ...command.aliases()].join(', '),
    commandUsage: (command) => [command.parent?.name(), command.name(), command.usage()].filter(Boolean).join(' '),
    styleTitle: (title) => `\u001b[1m${title}\u001b[22m`,
    formatHelp: (command, helper) => {
      const spec = command.parent === null ? undefined : byName.get(command.name());
      const sections =
        command.parent === null
          ? programSections(command, helper)
          : [...commandSections(command, helper), ...specSections(spec, command, helper)];
      return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
    },
  });
}

function programSections(program: Command, helper: Help): string[] {
  const width = Math.max(helper.longestSubcommandTermLength(program, helper), 8);
  return [
    usage(program, helper),
    wrapped('Inspects and manages the checkpoints and savepoints of Apache Flink, without Flink.', helper),
    ...grouped(
      helper.visibleCommands(program),
      (command) => command.helpGroup(),
      (command) => item(helper.subcommandTerm(command), width, helper.subcommandDescription(command), helper),
      helper,
    ),
    ...optionSections(program, helper),
    exitSection(
      [
        Exit.Ok,
        Exit.No,
        Exit.Usage,
        Exit.Unresolved,
        Exit.Unreadable,
        Exit.Refused,
        Exit.Bug,
        Exit.Interrupted,
        Exit.Terminated,
      ],
      helper,
    ),
    wrapped('"ckpt help <command>" says more about one command, with examples.', helper),
  ];
}

function commandSections(command: Command, helper: Help): string[] {
  const terms = helper.visibleArguments(command);
  const width = helper.longestArgumentTermLength(command, helper);
  return [
    usage(command, helper),
    wrapped(helper.commandDescription(command), helper),
    titled(
      'Arguments:',
      terms.map((term) => item(helper.argumentTerm(term), width, helper.argumentDescription(term), helper)),
      helper,
    ),
    ...optionSections(command, helper),
  ];
}

function specSections(spec: CommandSpec | undefined, command: Command, helper: Help): string[] {
  if (spec === undefined) return [];
  const aliases = command.aliases();
  const examples = (spec.examples ?? []).map(({ command: line, note }) => `  # ${note}\n  ${line}`);
  return [
    aliases.length === 0
      ? ''
      : `${helper.styleTitle(aliases.length === 1 ? 'Alias:' : 'Aliases:')} ${aliases.join(', ')}`,
    titled('Examples:', examples, helper, '\n\n'),
    exitSection(spec.exits, helper),
  ];
}

function usage(command: Command, helper: Help): string {
  return `${helper.styleTitle('Usage:')} ${helper.commandUsage(command)}`;
}

function optionSections(command: Command, helper: Help): string[] {
  const width = helper.longestOptionTermLength(command, helper);
  return grouped(
    helper.visibleOptions(command),
    (option) => option.helpGroupHeading ?? (option.long === '--help' ? 'Everywhere:' : 'Options:'),
    (option) => item(helper.optionTerm(option), width, helper.optionDescription(option), helper),
    helper,
  );
}

function exitSection(exits: readonly ExitSpec[], helper: Help): string {
  const meanings = new Map<number, string>([[Exit.Usage, exitMeanings[Exit.Usage]]]);
  for (const exit of exits) {
    const [code, meaning] = typeof exit === 'number' ? [exit, exitMeanings[exit]] : exit;
    meanings.set(code, meaning);
  }
  const lines = [...meanings]
    .sort(([one], [other]) => one - other)
    .map(([code, meaning]) => item(String(code), 3, meaning, helper));
  return titled('Exit codes:', lines, helper);
}

function grouped<T>(
  items: readonly T[],
  groupOf: (one: T) => string,
  format: (one: T) => string,
  helper: Help,
): string[] {
  const groups = new Map<string, string[]>();
  for (const one of items) {
    const group = groupOf(one);
    groups.set(group, [...(groups.get(group) ?? []), format(one)]);
  }
  return [...groups].map(([group, lines]) => titled(group, lines, helper));
}

function titled(title: string, lines: readonly string[], helper: Help, separator = '\n'): string {
  return lines.length === 0 ? '' : `${helper.styleTitle(title)}\n${lines.join(separator)}`;
}

function item(term: string, width: number, description: string, helper: Help): string {
  return helper.formatItem(term, width, description, helper);
}

function wrapped(text: string, helper: Help): string {
  return text
    .split('\n')
    .map((paragraph) => helper.boxWrap(paragraph, helper.helpWidth ?? 80))
    .join('\n');
}
