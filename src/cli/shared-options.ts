/**
 * Options that no command defines for itself: those that work everywhere, and those of everything destructive.
 */
import type { CommandSpec, OptionSpec } from './spec.js';

/** An option that the frame handles; commands do not see it. */
export interface SharedOption extends OptionSpec {
  readonly shared: true;
}

const group = 'Everywhere';

const shared: readonly SharedOption[] = [
  { shared: true, group, flags: '--json', description: 'Print the result as one JSON document' },
  { shared: true, group, flags: '--jsonl', description: 'Print one JSON object a line, as they come' },
  { shared: true, group, flags: '-q, --quiet', description: 'Print no warnings and no progress' },
  { shared: true, group, flags: '-v, --verbose', description: 'Say more; print the stack of an error' },
  { shared: true, group, flags: '--no-color', description: 'No colours (also: NO_COLOR in the environment)' },
  {
    shared: true,
    group,
    flags: '-D <key=value>',
    repeatable: true,
    description: "An option of Flink's configuration",
  },
  {
    shared: true,
    group,
    flags: '--conf-dir <directory>',
    description: 'Where config.yaml or flink-conf.yaml is (default: $FLINK_CONF_DIR)',
  },
  {
    shared: true,
    group,
    flags: '--map <old=new>',
    repeatable: true,
    description: 'Look up at NEW what is called OLD',
  },
  {
    shared: true,
    group,
    flags: '--alias <schemes>',
    repeatable: true,
    description: 'Schemes that name the same store, as s3,s3a',
  },
  {
    shared: true,
    group,
    flags: '--requests <number>',
    description: 'Requests at once to each remote store (default: 32)',
  },
];

/** What may stand before the name of the command. */
export const globalOptions: readonly SharedOption[] = shared.map((option) =>
  option.flags === '--jsonl' ? { ...option, description: `${option.description} (some commands)` } : option,
);

const destructiveOptions: readonly OptionSpec[] = [
  { group: 'Plan', flags: '--dry-run', description: 'Print the plan and stop' },
  { group: 'Plan', flags: '-y, --yes', description: 'Do not ask' },
  { group: 'Plan', flags: '--plan-out <file>', description: 'Save the plan to a file' },
  {
    group: 'Plan',
    flags: '--plan <file>',
    description: 'Carry out exactly this saved plan; refuse if the tree has changed under it',
  },
  { group: 'Plan', flags: '--log <file>', description: 'Append each deletion to a file' },
];

/** All options of a command: its own, those of destructive commands if it is one, and the shared ones. */
export function commandOptions(spec: CommandSpec): readonly (OptionSpec | SharedOption)[] {
  return [
    ...(spec.options ?? []),
    ...(spec.destructive === true ? destructiveOptions : []),
    ...shared.filter((option) => option.flags !== '--jsonl' || spec.jsonl === true),
  ];
}
