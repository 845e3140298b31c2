import { Exit } from '../exit-code.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt diff` */
export const diff: CommandSpec = {
  name: 'diff',
  group: 'Inspect',
  args: '<old> <new>',
  argumentNotes: {
    old: 'a checkpoint or savepoint directory, or a metadata file',
    new: 'another one',
  },
  summary: 'Compare two checkpoints or savepoints',
  description:
    'Compares operators and files. Operators are paired by id; those that are left by uid, by name, or by equal state, and are said to have changed their id. Files are in common if both name the same file, wherever a link or another spelling leads; the bytes of new ones are what the second checkpoint added. A copy of a checkpoint at another place is the same checkpoint, although its files are not. Reads the metadata alone and opens no state file.',
  examples: [
    { command: 'ckpt diff chk-41 chk-42', note: 'What has grown, and by how much' },
    { command: 'ckpt diff savepoint-old savepoint-new', note: 'Which operators a new version of the job renamed' },
    { command: "ckpt diff --json chk-41 chk-42 | jq '.files.addedBytes'", note: 'For scripts' },
  ],
  exits: [[Exit.Ok, 'the same'], [Exit.No, 'they differ'], Exit.Unresolved, Exit.Unreadable],
  load: () => import('./diff.js'),
};
