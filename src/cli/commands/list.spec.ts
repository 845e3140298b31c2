import { Exit } from '../exit-code.js';
import { parseDuration, parseJobIdPart } from '../options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt list` */
export const list: CommandSpec = {
  name: 'list',
  aliases: ['ls'],
  group: 'Inspect',
  args: '[root...]',
  argumentNotes: {
    root: 'directories above checkpoints or savepoints, in any layout (default: the configured ones)',
  },
  summary: 'List the checkpoints and savepoints below a directory',
  description:
    'Lists every checkpoint and savepoint below the directories, job by job in the order of their numbers: complete ones, and what is left of others. incomplete: a directory without metadata; in-progress: one that changed just now; half-discarded: "ckpt discard" was interrupted and finishes it when run again; broken: the metadata cannot be read, or a directory cannot be listed. Reads listings and headers; with --sizes all metadata, but no state file.',
  options: [
    {
      flags: '--sizes',
      description:
        'Add total bytes, bytes that only this one holds (what would be free if it alone went), operator names',
    },
    { flags: '--latest', description: 'Print one pointer alone: the newest complete one' },
    { flags: '--complete', description: 'Only complete ones' },
    { flags: '--job <id>', description: 'Only this job (its id or the first digits)', parse: parseJobIdPart },
    {
      flags: '--sort <order>',
      description: 'By job and id, or all together: the newest, the biggest, or the one with most of its own first',
      choices: ['id', 'time', 'size', 'exclusive'],
      default: 'id',
      conflicts: ['latest'],
    },
    {
      flags: '--min-age <duration>',
      description: 'A directory without metadata that changed since is in progress',
      parse: parseDuration,
      default: 900_000,
      defaultText: '15min',
    },
  ],
  examples: [
    { command: 'ckpt list checkpoints', note: 'What is there' },
    { command: 'ckpt ls --sizes --sort exclusive checkpoints savepoints', note: 'What takes the room' },
    { command: 'flink run -s "$(ckpt list --latest checkpoints)" job.jar', note: 'Restart from the newest' },
    { command: "ckpt list --json checkpoints | jq '.entries[].pointer'", note: 'For scripts' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'listed, but some metadata or a directory cannot be read (not with --latest)'],
    [Exit.Unresolved, 'a directory cannot be found or opened, or --latest found nothing'],
  ],
  jsonl: true,
  load: () => import('./list.js'),
};
