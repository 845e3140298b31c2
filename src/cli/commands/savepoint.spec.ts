import { Exit } from '../exit-code.js';
import { parseJobId } from '../options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt savepoint` */
export const savepoint: CommandSpec = {
  name: 'savepoint',
  group: 'Create and change',
  summary: 'Make a new savepoint directory and print its path',
  description:
    'Makes savepoint-<first 6 digits of the job id>-<12 random hex digits> below the target directory, which is made if it is missing, and prints its qualified path. A directory that exists is never taken over: another name is tried, up to 10 times.',
  options: [
    { flags: '--job-id <id>', description: 'The job: 32 hex digits', parse: parseJobId, required: true },
    {
      flags: '--target-directory <dir>',
      description: 'Where to make it (default: execution.checkpointing.savepoint-dir)',
    },
  ],
  examples: [
    {
      command: 'ckpt savepoint --job-id 4f1a2b3c4d5e6f708192a3b4c5d6e7f8 --target-directory s3://bucket/savepoints',
      note: 'A new directory in a bucket',
    },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'ten attempts failed'],
    [Exit.Unresolved, 'the file system of the directory is not known'],
  ],
  load: () => import('./savepoint.js'),
};
