/** The options with which a pointer may be a directory above checkpoints, for all commands that take one. */

import { parseJobIdPart } from './options.js';
import type { OptionSpec } from './spec.js';

/** What {@link latestOptions} parse to. */
export interface LatestOptions {
  readonly latest?: true;
  readonly job?: string;
  readonly whole?: true;
}

const group = 'Choosing the newest';

/** `--latest`, `--job`, `--whole`. */
export const latestOptions: readonly OptionSpec[] = [
  {
    flags: '--latest',
    description: 'The pointer is a directory: take the newest complete checkpoint or savepoint below',
    group,
  },
  {
    flags: '--job <id>',
    description: 'With --latest: of this job (its id or the first digits)',
    parse: parseJobIdPart,
    group,
  },
  { flags: '--whole', description: 'With --latest: the newest of which no file is missing', group },
];
