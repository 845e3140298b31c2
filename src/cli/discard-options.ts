/** The options of the commands that discard checkpoints. */
import { parseDuration } from './options.js';
import type { OptionSpec } from './spec.js';

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
