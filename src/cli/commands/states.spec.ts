import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt states` */
export const states: CommandSpec = {
  name: 'states',
  group: 'State contents',
  args: '<pointer> [operator]',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
    operator: 'this one alone: its id, the beginning of it, its uid or its name',
  },
  summary: 'List the named states with their types',
  description:
    'Lists every named state of every operator: its kind, the types of its keys, namespaces and values as the serializer snapshots have them, whether it has time to live, and for operator state how many elements it has and how big they are. Only the beginning of each state file is read, that of every subtask: where one describes a state in another way than the others, that is said. It needs no class of the job.',
  options: latestOptions,
  examples: [
    { command: 'ckpt states chk-42', note: 'What is in the state' },
    { command: 'ckpt states chk-42 my-window', note: 'Of one operator' },
    { command: "ckpt states --json chk-42 | jq '.operators[].states[].name'", note: 'For scripts' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'the head of a state file could not be read, or an I/O error on the way'],
    [Exit.Usage, 'wrong use, or no such operator'],
    Exit.Unresolved,
    Exit.Unreadable,
  ],
  load: () => import('./states.js'),
};
