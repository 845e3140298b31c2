import { Exit } from '../exit-code.js';
import { parseDuration } from '../options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt gc` */
export const gc: CommandSpec = {
  name: 'gc',
  group: 'Clean up',
  args: '[root...]',
  argumentNotes: { root: 'directories above checkpoints, all that may share files; none with --plan' },
  summary: 'Find, and delete, the files that no checkpoint or savepoint names',
  description: [
    'Finds what Flink has left behind: files in shared/, directories of file merging and of changelogs, checkpoints that never completed, files of interrupted writes. A file is in use if any metadata below the roots names it; if one metadata file cannot be read, nothing is offered. Other files, such as the output of a sink, are never touched.',
    'Changes nothing without --delete or --move-to. Give all roots whose jobs may refer to each other, or say with --used-by where else to look: a file that only a checkpoint elsewhere needs looks like garbage here.',
  ].join('\n\n'),
  options: [
    { flags: '--delete', description: 'Delete what was found, after a question', conflicts: ['moveTo'] },
    { flags: '--move-to <dir>', description: 'Move it there, with the same layout, instead of deleting it' },
    {
      flags: '--min-age <duration>',
      description: 'Younger files stay, and directories with one: they may be in progress',
      parse: parseDuration,
      default: 86_400_000,
      defaultText: '1d',
    },
    {
      flags: '--used-by <root>',
      description: 'Look for users of the files there as well; nothing is deleted there',
      repeatable: true,
    },
    { group: 'What may go', flags: '--taskowned', description: 'Plain files in taskowned/ that no state names' },
    {
      group: 'What may go',
      flags: '--changelog-base <dir>',
      description: 'Files of changelogs right in this directory, where no job id is in their path',
      repeatable: true,
    },
    {
      group: 'What may go',
      flags: '--working-directories',
      description: 'Working directories of ForSt: only if no job runs',
    },
    { group: 'What may go', flags: '--empty-directories', description: 'Directories that are empty, or will be' },
    {
      group: 'Safety',
      flags: '--assume-dead <pointer>',
      description: 'This broken checkpoint is never restored: what only it needs may go',
      repeatable: true,
    },
    { group: 'Safety', flags: '--break-lock', description: 'Take over the lock of a run that is known to have ended' },
  ],
  examples: [
    { command: 'ckpt gc checkpoints', note: 'What could go, and how much it is' },
    {
      command: 'ckpt gc checkpoints savepoints --used-by /other/savepoints --delete',
      note: 'Delete it after a question',
    },
    { command: 'ckpt gc checkpoints --move-to /trash', note: 'Not deleted, but moved away' },
    { command: 'ckpt gc checkpoints --jsonl', note: 'One file a line, for scripts' },
  ],
  exits: [
    [Exit.Ok, 'done; also if a dry run has found garbage'],
    [Exit.No, 'something could not be deleted'],
    [Exit.Unresolved, 'a root does not exist'],
    [
      Exit.Refused,
      'refused, nothing changed: metadata that cannot be read, a tree by another name, no confirmation, another run',
    ],
  ],
  jsonl: true,
  destructive: true,
  onlyReads: ({ delete: deletes, moveTo, plan }) => !deletes && moveTo === undefined && plan === undefined,
  load: () => import('./gc.js'),
};
