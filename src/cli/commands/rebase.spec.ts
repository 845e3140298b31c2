import { Exit } from '../exit-code.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt rebase` */
export const rebase: CommandSpec = {
  name: 'rebase',
  group: 'Create and change',
  args: '<pointer> <old=new...>',
  argumentNotes: {
    pointer: 'the checkpoint or savepoint whose files were moved',
    'old=new':
      'a path prefix as the metadata has it and the one it becomes, scheme and host included; "\\=" is a "=" in a path',
  },
  summary: 'Change path prefixes in the metadata, after files were moved',
  description:
    'Changes the absolute paths in the metadata and nothing else: not a byte more. Use it after the files were moved by other means. Prefixes count by whole names; hdfs://a/x, hdfs://b/x and hdfs:///x are three different ones. Handles that are relative to the directory need no change.',
  options: [
    {
      flags: '--out <file>',
      description: 'Write the changed metadata to this file, in the same directory unless --detached',
    },
    {
      flags: '--in-place',
      description: 'Replace the metadata; the old one is kept beside it until the new one stands',
    },
    {
      flags: '--detached',
      description: 'With --out into another directory: its relative handles will mean files there',
    },
    { flags: '--verify', description: 'Check afterwards that all files it names are there' },
  ],
  examples: [
    {
      command: 'ckpt rebase chk-42 hdfs://old/f=s3://new/f --out chk-42/_metadata.s3',
      note: 'After a move to S3',
    },
    { command: 'ckpt rebase sp /data/sp=/backup/sp --in-place --verify', note: 'A savepoint with absolute paths' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'no path begins with a given prefix, or the result could not be written or is not whole'],
    Exit.Unresolved,
    Exit.Unreadable,
    [Exit.Refused, 'the file exists, a path would be too long, or relative handles would mean other files'],
  ],
  load: () => import('./rebase.js'),
};
