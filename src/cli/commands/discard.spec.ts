import { Exit } from '../exit-code.js';
import { parseDuration } from '../options.js';
import type { CommandSpec, OptionSpec } from '../spec.js';

/** Options of every command that discards checkpoints. */
export const discardOptions: readonly OptionSpec[] = [
  {
    group: 'Safety',
    flags: '--allow-outside <dir>',
    description: 'Files below this directory may go as well; other users are looked for there too',
    repeatable: true,
  },
  {
    group: 'Safety',
    flags: '--keep-shared',
    description:
      "Nothing outside the checkpoint's own directory goes; other metadata that cannot be read does not matter then",
  },
  { group: 'Safety', flags: '--force', description: 'Delete files even if other checkpoints use them' },
  {
    group: 'Safety',
    flags: '--min-age <duration>',
    description: 'The newest checkpoint of a job whose files changed more lately stays',
    parse: parseDuration,
    default: 900_000,
    defaultText: '15min',
  },
  {
    group: 'Safety',
    flags: '--job-stopped',
    description: 'No job runs that could use the checkpoint: neither --min-age nor its newest checkpoint matter',
  },
  { flags: '--move-to <dir>', description: 'Move the files there, with the same layout, instead of deleting them' },
  { group: 'Safety', flags: '--break-lock', description: 'Take over the lock of a run that is known to have ended' },
];

/** What {@link discardOptions} parse to. */
export interface DiscardOptions {
  readonly allowOutside: readonly string[];
  readonly keepShared?: true;
  readonly force?: true;
  readonly minAge: number;
  readonly jobStopped?: true;
  readonly moveTo?: string;
  readonly breakLock?: true;
}

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
