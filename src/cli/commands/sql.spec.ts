import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt sql` */
export const sql: CommandSpec = {
  name: 'sql',
  group: 'State contents',
  args: '<pointer> <operator>',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
    operator: 'its id, the beginning of it, its uid or its name',
  },
  summary: 'Write the Flink SQL that reads the state of an operator',
  description:
    "Writes the statement for the connector 'savepoint' of Flink (flink-state-processor-api), with the types of keys and values as the serializer snapshots have them: for state that is too much for one machine. Where that connector cannot read the state (files of RocksDB in Flink 2.3, ForSt, a changelog, operator state, windows, timers, types that it has no column for), it writes a job for the State Processor API in Java that prints the state as lines of JSON, and says why. Only the beginning of each state file is read. The path in it is the one that the metadata has, whatever --map says: Flink must be able to read it there.",
  options: [
    { flags: '--java', description: 'Write the job in Java even where SQL would do' },
    { flags: '--state <name>', description: 'Only this state', repeatable: true },
    { flags: '--table <name>', description: 'Name of the table', defaultText: 'the uid or name of the operator' },
    {
      flags: '--flink <release>',
      description: 'For the connector of this release: those before 2.3 read RocksDB, and know fewer types',
      choices: ['2.1', '2.2', '2.3'],
      default: '2.3',
    },
    { flags: '--out <file>', description: 'Write it there and not to standard output' },
    { flags: '--overwrite', description: 'Replace the file of --out if there is one' },
    ...latestOptions,
  ],
  examples: [
    { command: 'ckpt sql savepoint-ab12cd orders', note: 'The statement' },
    { command: 'ckpt sql chk-42 orders --state count --table counts', note: 'One state, as the table counts' },
    { command: 'ckpt sql chk-42 my-window --java --out ReadMyWindow.java', note: 'A job in Java' },
    { command: 'sql-client.sh -f <(ckpt sql savepoint-ab12cd orders)', note: 'Run it' },
  ],
  exits: [
    Exit.Ok,
    [
      Exit.No,
      'Flink has no way to read any of it, the head of a state file could not be read, or an I/O error on the way',
    ],
    [Exit.Usage, 'wrong use, or no such operator or state'],
    Exit.Unresolved,
    Exit.Unreadable,
    [Exit.Refused, 'the file of --out exists'],
  ],
  load: () => import('./sql.js'),
};
