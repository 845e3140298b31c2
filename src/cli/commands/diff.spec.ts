import { Exit } from '../exit-code.js';
import { integerParser } from '../options.js';
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
    'Compares operators and files. Operators are paired by id; those that are left by uid, by name, or by equal state, and are said to have changed their id. Files are in common if both name the same file, wherever a link or another spelling leads; the bytes of new ones are what the second checkpoint added. A copy of a checkpoint at another place is the same checkpoint, although its files are not. Reads the metadata alone and opens no state file.\n\nWith --contents it reads all state of both and compares it key by key, whatever backend and format wrote it: how many entries of each state were added, removed, changed or not, and the first of them with their old and new values.',
  options: [
    { group: 'Contents', flags: '--contents', description: 'Compare what is in the state: keys and values' },
    {
      group: 'Contents',
      flags: '--limit <number>',
      description: 'Differences that are shown of each state, with old and new value (default: 5)',
      parse: integerParser(),
    },
    { group: 'Contents', flags: '--state <name>', description: 'Compare this state alone' },
  ],
  examples: [
    { command: 'ckpt diff chk-41 chk-42', note: 'What has grown, and by how much' },
    { command: 'ckpt diff savepoint-old savepoint-new', note: 'Which operators a new version of the job renamed' },
    { command: 'ckpt diff --contents chk-41 chk-42', note: 'Which keys have other values now' },
    { command: "ckpt diff --json chk-41 chk-42 | jq '.files.addedBytes'", note: 'For scripts' },
  ],
  exits: [[Exit.Ok, 'the same'], [Exit.No, 'they differ'], Exit.Unresolved, Exit.Unreadable],
  load: () => import('./diff.js'),
};
