import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt copy` */
export const copy: CommandSpec = {
  name: 'copy',
  group: 'Create and change',
  args: '<pointer> <target>',
  argumentNotes: {
    pointer: 'the checkpoint or savepoint to copy; with --latest a directory above them',
    target: 'the directory to make; an interrupted copy of the same checkpoint is continued',
  },
  summary: 'Copy a checkpoint with every file it needs into one directory',
  description:
    'Copies a checkpoint or savepoint with all its files (exclusive, shared, task-owned, merged, changelog, foreign) into a directory of its own. All files are named relative to it afterwards, so the copy can be moved by anything. The metadata is written last and atomically: until then the target does not look like a checkpoint. Run the same command again to continue an interrupted copy. The source is not changed.',
  options: [
    { flags: '-n, --dry-run', description: 'List what would be copied, and stop' },
    { flags: '--verify', description: 'Check the copy afterwards: all files there and as long as recorded' },
    {
      flags: '--checksum',
      description: 'When continuing, compare the contents of files that are there, not only their lengths',
    },
    { flags: '--fsync', description: 'Sync each data file to disk (the metadata always is)' },
    ...latestOptions,
  ],
  examples: [
    { command: 'ckpt copy checkpoints/4f1a…/chk-42 /backup/chk-42', note: 'A self-contained copy' },
    { command: 'ckpt copy --latest checkpoints /backup/newest --verify', note: 'Of the newest, checked' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'a file could not be read or written, or the copy is not whole; run it again to continue'],
    Exit.Unresolved,
    Exit.Unreadable,
    [Exit.Refused, 'the target is not empty, or lies in the source'],
  ],
  load: () => import('./copy.js'),
};
