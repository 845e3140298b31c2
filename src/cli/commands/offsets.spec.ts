import { Exit } from '../exit-code.js';
import { latestOptions } from '../pointer-options.js';
import type { CommandSpec } from '../spec.js';

/** `ckpt offsets` */
export const offsets: CommandSpec = {
  name: 'offsets',
  group: 'State contents',
  args: '<pointer> [operator]',
  argumentNotes: {
    pointer: 'a checkpoint or savepoint directory, or a metadata file; with --latest a directory above them',
    operator: 'this one alone: its id, the beginning of it, its uid or its name',
  },
  summary: 'Show the positions of Kafka sources and the open transactions of sinks',
  description:
    'Shows from which offset each partition goes on when a job starts from this checkpoint: of KafkaSource (splits of the readers, partitions that the enumerator knows) and of the old FlinkKafkaConsumer. An offset is always that of the next record to read, although the old consumer stores the last one read. Also the transactions that exactly-once sinks have opened. Sources and sinks that are not Kafka are listed with their bytes and the version of the serializer that wrote them.\n\n--csv prints topic,partition,offset, which kafka-consumer-groups takes with --reset-offsets --from-file. Partitions without an offset are left out, and named on standard error.',
  options: [
    { flags: '--csv', description: 'topic,partition,offset for kafka-consumer-groups --reset-offsets --from-file' },
    ...latestOptions,
  ],
  examples: [
    { command: 'ckpt offsets chk-42', note: 'Where the job would go on' },
    {
      command: 'ckpt offsets chk-42 orders-source --csv > offsets.csv',
      note: 'For kafka-consumer-groups --reset-offsets --from-file',
    },
    { command: "ckpt offsets --json chk-42 | jq -r '.transactions[].transactionalId'", note: 'What may hang' },
  ],
  exits: [
    Exit.Ok,
    [Exit.No, 'state of a source or sink could not be read; with --csv, partitions without an offset were left out'],
    [Exit.Usage, 'wrong use, no such operator, or --csv of a partition that two sources read'],
    Exit.Unresolved,
    Exit.Unreadable,
  ],
  load: () => import('./offsets.js'),
};
