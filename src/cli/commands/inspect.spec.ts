import { Exit } from '../exit-code.js';
import { parseList } from '../options.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt inspect` */
export const inspect: CommandSpec = {
  name: 'inspect',
  group: 'Inspect',
  args: '<pointer> [operator]',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
    operator: 'show this one in full: its id, the beginning of it, its uid or its name',
  },
  summary: 'Show what is in a checkpoint or savepoint',
  description:
    'Shows what a checkpoint is, which Flink wrote it, how big it is and where its bytes are, whether its directory can be moved by itself, and its operators, the biggest first. With an operator: its subtasks, named states and state handles. Reads the metadata alone and opens no state file, but for the names of keyed states: they stand at the start of the state files, of which it reads one.',
  options: [
    {
      flags: '--uid <uids>',
      description: 'Match these uids (separated by commas) with the operators',
      parse: parseList,
      repeatable: true,
    },
    ...latestOptions,
  ],
  examples: [
    { command: 'ckpt inspect chk-42', note: 'What is in it' },
    { command: 'ckpt inspect chk-42 my-window', note: 'One operator, by its uid' },
    { command: 'ckpt inspect --latest checkpoints --uid a,b,c', note: 'Which uids have state' },
    { command: "ckpt inspect --json chk-42 | jq '.operatorStates[].operatorId'", note: 'For scripts' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'an I/O error on the way'],
    [Exit.Usage, 'wrong use, or no such operator'],
    Exit.Unresolved,
    Exit.Unreadable,
  ],
  load: () => import('./inspect.js'),
};
