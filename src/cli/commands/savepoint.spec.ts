import { Exit } from '../exit-code.js';
import { parseJobId } from '../options.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt savepoint` */
export const savepoint: CommandSpec = {
  name: 'savepoint',
  group: 'Create and change',
  summary: 'Make a new savepoint directory and print its path',
  description:
    'Makes savepoint-<first 6 digits of the job id>-<12 random hex digits> below the target directory, which is made if it is missing, and prints its qualified path. A directory that exists is never taken over: another name is tried, up to 10 times. With --from the directory is filled with a complete, self-contained copy of a retained checkpoint or another savepoint, which Flink then takes for a savepoint.',
  options: [
    {
      flags: '--job-id <id>',
      description: 'The job: 32 hex digits (with --from by default that in its path)',
      parse: parseJobId,
    },
    {
      flags: '--target-directory <dir>',
      description: 'Where to make it (default: execution.checkpointing.savepoint-dir)',
    },
    { flags: '--from <pointer>', description: 'Fill it with a copy of this checkpoint or savepoint' },
    { flags: '--verify', description: 'With --from: check afterwards that all files are there' },
    ...latestOptions,
  ],
  examples: [
    {
      command: 'ckpt savepoint --job-id 4f1a2b3c4d5e6f708192a3b4c5d6e7f8',
      note: 'A new directory, in the configured place',
    },
    { command: 'ckpt savepoint --from 4f1a…/chk-42 --target-directory /sp', note: 'Of a checkpoint' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'ten attempts failed, or a file could not be copied'],
    Exit.Unreadable,
    [Exit.Unresolved, 'the file system of the directory is not known, or --from leads nowhere'],
  ],
  load: () => import('./savepoint.js'),
};
