import { Exit } from '../exit-code.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt uid` */
export const uid: CommandSpec = {
  name: 'uid',
  group: 'Other',
  args: '<uid...>',
  argumentNotes: { uid: 'uid as the job sets it; "-" reads uids from standard input, one a line' },
  summary: 'Print the operator id of each uid',
  description:
    'Prints the operator id that Flink makes of each uid: 32 hex digits, as they stand in checkpoints and in messages such as "Cannot map checkpoint/savepoint state for operator".',
  examples: [
    { command: 'ckpt uid my-source my-window', note: 'Two ids, in the order of the uids' },
    { command: 'ckpt uid --json - < uids.txt', note: 'Uids from a file, as JSON' },
  ],
  exits: [Exit.Ok],
  load: () => import('./uid.js'),
};
