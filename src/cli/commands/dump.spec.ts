import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt dump` */
export const dump: CommandSpec = {
  name: 'dump',
  group: 'Inspect',
  args: '<pointer>',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
  },
  summary: 'Print the whole of the metadata as one JSON document',
  description:
    'Prints every field of the metadata, named and nested as in Flink\'s own classes: operators, subtasks, state handles, sizes, properties. Where these fields lose something that the file has (an order, odd bytes), it stands in a field "wire" beside them, so that "ckpt assemble" can write the file back byte for byte. The document is streamed: files of any size can be dumped.',
  options: [{ flags: '--pretty', description: 'Indent the document' }, ...latestOptions],
  examples: [
    { command: 'ckpt dump chk-42 | jq .checkpointId', note: 'One field of it' },
    { command: 'ckpt dump --pretty chk-42 > chk-42.json', note: 'To read, or to edit and assemble' },
  ],
  exits: [Exit.Ok, [Exit.No, 'an I/O error on the way'], Exit.Unresolved, Exit.Unreadable],
  load: () => import('./dump.js'),
};
