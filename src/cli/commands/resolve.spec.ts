import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt resolve` */
export const resolve: CommandSpec = {
  name: 'resolve',
  group: 'Inspect',
  args: '<pointer>',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
  },
  summary: 'Print the qualified pointer and where its metadata is',
  description:
    'Finds the metadata file that a pointer means, by the rules of "flink run -s": a directory with _metadata in it, or a metadata file of any name, as a plain path or a URI. Prints the external pointer and the path of the metadata.',
  options: latestOptions,
  examples: [
    { command: 'ckpt resolve checkpoints/4f1a…/chk-42', note: 'Where that checkpoint is' },
    { command: 'ckpt resolve --latest s3://bucket/checkpoints', note: 'The newest complete one below' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'an I/O error on the way'],
    Exit.Unresolved,
    [Exit.Unreadable, 'with --latest: the directory is a checkpoint whose metadata cannot be read'],
  ],
  load: () => import('./resolve.js'),
};
