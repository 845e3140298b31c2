import { Exit } from '../exit-code.js';
import { parseJobIdPart } from '../options.js';
import type { CommandSpec } from '../spec.js';

const group = 'Choosing the newest';

/** `ckpt verify` */
export const verify: CommandSpec = {
  name: 'verify',
  group: 'Inspect',
  args: '<pointer...>',
  argumentNotes: {
    pointer: 'checkpoints, savepoints or metadata files, or directories above them: then every one below',
  },
  summary: 'Check that every file a checkpoint names is there and whole',
  description:
    'Reads the metadata to its last byte, and looks whether every file it names exists and is as long as it says; a part of a merged file must lie inside it. With --deep it also opens the state files and checks headers, key-group offsets, framing and every checksum that is stored, and takes the entries of heap and canonical state apart. Of a directory above checkpoints: which of them are whole, and which file breaks which. It says what it checked, never that a job will restore.',
  options: [
    { flags: '--deep', description: 'Open the state files and check what is in them' },
    {
      flags: '--latest',
      description: 'Each pointer is a directory: take the newest complete checkpoint or savepoint below',
      group,
    },
    {
      flags: '--job <id>',
      description: 'With --latest: of this job (its id or the first digits)',
      parse: parseJobIdPart,
      group,
    },
  ],
  examples: [
    { command: 'ckpt verify chk-42', note: 'Is it whole' },
    { command: 'ckpt verify checkpoints', note: 'Which are whole, of all below' },
    { command: 'ckpt verify --deep --latest checkpoints', note: 'The newest one, with the contents of its files' },
    { command: 'ckpt verify --map s3://bucket=/mnt/copy s3://bucket/chk-42', note: 'A copy that lies elsewhere' },
    { command: "ckpt verify --json chk-42 | jq -r '.pointers[].faults[].path'", note: 'For scripts' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'something is wrong with a file, or with metadata below a directory'],
    Exit.Unresolved,
    [Exit.Unreadable, 'the metadata of a pointer cannot be read'],
  ],
  jsonl: true,
  load: () => import('./verify.js'),
};
