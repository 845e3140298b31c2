import { Exit } from '../exit-code.js';
import { parseAssignment } from '../options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt edit` */
export const edit: CommandSpec = {
  name: 'edit',
  group: 'Create and change',
  args: '<pointer>',
  argumentNotes: { pointer: 'the checkpoint or savepoint to change a copy of' },
  summary: 'Rename, drop or keep operators in a copy of the metadata',
  description:
    'Changes operators in a copy of the metadata; everything else stays byte for byte. For "Cannot map checkpoint/savepoint state for operator X": give X the uid that the job has now, or drop it. An operator is named by its id, the beginning of it, its uid or its name, as it is before all changes. Several edits go in one call. The result is another metadata file of the same directory (Flink takes any name), or with --copy a full copy.',
  options: [
    {
      flags: '--set-uid <old=new>',
      description: 'Give an operator another uid, and the id that Flink makes of it',
      parse: parseAssignment,
      repeatable: true,
    },
    {
      flags: '--set-operator-id <old=new>',
      description: 'Give an operator another id (32 hex digits)',
      parse: parseAssignment,
      repeatable: true,
    },
    { flags: '--drop <operator>', description: 'Leave an operator out', repeatable: true },
    { flags: '--keep <operator>', description: 'Leave all other operators out', repeatable: true },
    {
      flags: '--set-max-parallelism <operator=n>',
      description: 'Only where no keyed state depends on it',
      parse: parseAssignment,
      repeatable: true,
    },
    {
      flags: '--out <file>',
      description: 'The metadata file to write, in the same directory',
      group: 'Where it goes',
      conflicts: ['copy'],
    },
    {
      flags: '--copy <dir>',
      description: 'Make a full copy there instead, as "ckpt copy" does',
      group: 'Where it goes',
    },
    { flags: '--verify', description: 'Check afterwards that all files it names are there' },
  ],
  examples: [
    {
      command: 'ckpt edit chk-42 --set-uid old-uid=new-uid --out chk-42/_metadata.renamed',
      note: 'Then restore from that file',
    },
    { command: 'ckpt edit sp --drop 38226e04 --copy /backup/sp-without', note: 'Without an operator' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'the result could not be written or is not whole'],
    Exit.Unresolved,
    Exit.Unreadable,
    [Exit.Refused, 'unknown operator, two with one id, keyed state, or the target exists'],
  ],
  load: () => import('./edit.js'),
};
