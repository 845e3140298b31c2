import { Exit } from '../exit-code.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt assemble` */
export const assemble: CommandSpec = {
  name: 'assemble',
  group: 'Create and change',
  args: '<file>',
  argumentNotes: { file: 'a document that "ckpt dump" printed; "-" reads it from standard input' },
  summary: 'Write a metadata file out of a document of "dump"',
  description:
    'Writes the metadata file that a document describes; an unchanged document gives the same file, byte for byte. Sizes that Flink derives are ignored, the rest is checked: what contradicts itself, is not known, or fits no metadata file is refused before anything is written. The file appears at its place only when it is complete.',
  options: [
    {
      flags: '--out <path>',
      description: 'The metadata file to write; its directory is made if missing',
      required: true,
    },
    { flags: '--overwrite', description: 'Replace the file if it exists' },
  ],
  examples: [
    { command: 'ckpt dump chk-42 | ckpt assemble - --out copy/_metadata', note: 'A copy through JSON' },
    {
      command: 'ckpt assemble edited.json --out chk-42/_metadata.edited',
      note: 'After an edit; Flink takes any file name',
    },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'the file could not be written'],
    [Exit.Unresolved, 'the document does not exist'],
    [Exit.Unreadable, 'the document is not one of dump, or contradicts itself'],
    [Exit.Refused, 'the file exists, or no metadata file can hold the document'],
  ],
  load: () => import('./assemble.js'),
};
