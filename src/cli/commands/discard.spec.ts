import { discardOptions } from '../discard-options.js';
import { Exit } from '../exit-code.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt discard` */
export const discard: CommandSpec = {
  name: 'discard',
  group: 'Clean up',
  args: '[pointer...]',
  argumentNotes: { pointer: 'checkpoints and savepoints to discard; none with --plan' },
  summary: 'Discard checkpoints and savepoints, but no file that others use',
  description: [
    'Deletes a checkpoint with all its files, also the merged and changelog files that Flink leaves behind, and shows before what goes and what stays. A file that another checkpoint or savepoint below the same root names stays.',
    'The metadata is renamed to _metadata.discarding first and removed last: after a kill, a failure or Ctrl-C the same command goes on where it stopped.',
  ].join('\n\n'),
  options: [
    {
      flags: '--root <dir>',
      description:
        'Only below this directory files may go, and other users of them are looked for (default: the directory above that of the job; of a savepoint, the one above it)',
      repeatable: true,
    },
    { flags: '--unreadable', description: 'A chk-N whose metadata is broken: discard what is in its own directory' },
    ...discardOptions,
  ],
  examples: [
    { command: 'ckpt discard --dry-run checkpoints/4f1a…/chk-41', note: 'What would go and what would stay' },
    { command: 'ckpt discard --yes savepoints/savepoint-4f1a2b-0123456789ab', note: 'Without a question' },
    { command: 'ckpt discard chk-41 --move-to /trash', note: 'Not deleted, but moved away' },
  ],
  exits: [
    [Exit.Ok, 'done; also if files stay because others use them'],
    [Exit.No, 'something could not be deleted, or entries that belong to nobody keep a directory'],
    [Exit.Unresolved, 'a pointer does not resolve, or its checkpoint is discarded already'],
    [Exit.Unreadable, 'the metadata of a pointer cannot be read (see --unreadable)'],
    [
      Exit.Refused,
      'refused, nothing changed: no confirmation, a running job, crafted paths, metadata nearby that cannot be read, another run',
    ],
  ],
  destructive: true,
  load: () => import('./discard.js'),
};
