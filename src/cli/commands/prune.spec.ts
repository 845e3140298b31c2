import { discardOptions } from '../discard-options.js';
import { Exit } from '../exit-code.js';
import { integerParser, parseDuration } from '../options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt prune` */
export const prune: CommandSpec = {
  name: 'prune',
  group: 'Clean up',
  args: '[root]',
  argumentNotes: { root: 'a directory above checkpoints or savepoints; none with --plan' },
  summary: 'Discard checkpoints beyond the newest, or older ones',
  description: [
    'Discards complete checkpoints (directories chk-N) of each job beyond the newest N, or older than T; with both, what either keeps stays. The newest complete one of each job always stays. With --savepoints savepoints instead, those of one directory and one job-id prefix together.',
    'One plan for all, by the rules of discard: a file that a checkpoint which stays uses stays as well. What an interrupted run has left is finished.',
  ].join('\n\n'),
  options: [
    {
      flags: '--keep <n>',
      description: 'The newest N of each job stay; 0 needs --force',
      parse: integerParser(),
      conflicts: ['plan'],
    },
    {
      flags: '--older-than <duration>',
      description: 'Only those that were written longer ago',
      parse: parseDuration,
      conflicts: ['plan'],
    },
    { flags: '--savepoints', description: 'Savepoints instead of checkpoints', conflicts: ['plan'] },
    ...discardOptions.filter(({ flags }) => flags !== '--force'),
    { group: 'Safety', flags: '--force', description: 'With --keep 0: also the newest complete one of a job may go' },
  ],
  examples: [
    { command: 'ckpt prune checkpoints --keep 3 --dry-run', note: 'What would go, and what would stay' },
    { command: 'ckpt prune checkpoints --keep 3 --older-than 7d --yes', note: 'At least three, and a week' },
    {
      command: 'ckpt prune savepoints --savepoints --older-than 90d',
      note: 'Old savepoints, but for the newest of each job',
    },
  ],
  exits: [
    [Exit.Ok, 'done; also if there was nothing to discard'],
    [Exit.No, 'something could not be deleted, or entries that belong to nobody keep a directory'],
    [Exit.Unresolved, 'the directory cannot be found or opened'],
    [
      Exit.Refused,
      'refused, nothing changed: no confirmation, a running job, crafted paths, metadata nearby that cannot be read, another run, --keep 0 without --force',
    ],
  ],
  destructive: true,
  load: () => import('./prune.js'),
};
