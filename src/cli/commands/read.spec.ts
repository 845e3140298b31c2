import { Exit } from '../exit-code.js';
import { integerParser, parseDuration } from '../options.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

const which = 'Which entries';
const how = 'What to show of them';

/** `ckpt read` */
export const read: CommandSpec = {
  name: 'read',
  group: 'State contents',
  args: '<pointer> [operator] [state]',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
    operator: 'this one alone: its id, the beginning of it, its uid or its name',
    state: 'this state alone, by its name',
  },
  summary: 'Show keys and values of the state',
  description:
    'Shows every entry of keyed and operator state: key, namespace, value, key group and subtask, from whatever the checkpoint has them in. Values are decoded by what the serializer snapshots say, without a class of the job; one that only its own class or Kryo can read is shown as labelled bytes. Entries that cannot be reached because the form has no lengths are counted and named, and the exit code is 1. Memory stays bounded; temporary files are made where the system keeps them, never under what is read.\n\nA text for --key is taken as it is for keys that are strings, and as JSON for all others, the way this command prints them. Where the hash code of the key can be computed, only its key group is read.',
  options: [
    { flags: '--key <key>', description: 'Entries of this key', group: which },
    { flags: '--key-prefix <text>', description: 'Entries whose key, as text, begins with this', group: which },
    {
      flags: '--where-key <pattern>',
      description: 'Entries whose key, as text, matches this regular expression',
      group: which,
    },
    { flags: '--namespace <namespace>', description: 'Entries of this namespace, as text or JSON', group: which },
    {
      flags: '--limit <n>',
      description: 'Show the first n entries and say how many more there are',
      parse: integerParser({}),
      group: which,
    },
    { flags: '--keys-only', description: 'Leave values out', conflicts: ['count'], group: how },
    {
      flags: '--count',
      description: 'Count the entries of each state',
      conflicts: ['keysOnly', 'limit', 'csv'],
      group: how,
    },
    { flags: '--csv', description: 'As CSV, a line for each entry, also of maps', group: how },
    {
      flags: '--by-key',
      description: 'One row for each key of an operator, its states as columns; holds one key group in memory',
      conflicts: ['count', 'csv', 'keysOnly'],
      group: how,
    },
    {
      flags: '--ttl <duration>',
      description: 'Mark entries as expired that were not accessed for so long; how long they live is not stored',
      parse: parseDuration,
      group: how,
    },
    ...latestOptions,
  ],
  examples: [
    { command: 'ckpt read chk-42 my-operator count', note: 'All keys and values of a state' },
    { command: 'ckpt read chk-42 my-operator --key user-17', note: 'All states of one key' },
    { command: 'ckpt read chk-42 --count', note: 'How many entries each state has' },
    { command: 'ckpt read --jsonl chk-42 my-operator | jq -c .value', note: 'For scripts' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'not all entries could be decoded or read'],
    [Exit.Usage, 'wrong use, or no such operator or state'],
    Exit.Unresolved,
    Exit.Unreadable,
  ],
  jsonl: true,
  load: () => import('./read.js'),
};
