/** The text of `ckpt offsets`. */
import type {
  FramedState,
  OffsetSentinel,
  OffsetsResult,
  SinkTransaction,
  SinkWriter,
  SourceOffset,
} from '../operations/offsets/result.js';
import { plural } from './format.js';
import { printable } from './printable.js';
import { type Column, tableLines } from './table.js';
import { renderTitle } from './title.js';
import type { View } from './view.js';

/** Base64 of a value of another source. */
const SHOWN_CHARACTERS = 40;

/** Renders the document: a table for each source, then transactions, writers, and what is not Kafka's. */
export function* renderOffsets(result: OffsetsResult, view: View): Generator<string> {
  const { sources, transactions, writers, others, unread } = result;
  const blocks: Iterable<string>[] = [];
  for (const group of byOperator(sources)) blocks.push(renderSource(group, view));
  if (transactions.length > 0) blocks.push(titled('Open transactions', TRANSACTION_COLUMNS, transactions, view));
  if (writers.length > 0) blocks.push(titled('Writers', WRITER_COLUMNS, writers, view));
  if (others.length > 0) blocks.push(titled('Not of Kafka', OTHER_COLUMNS, others, view));
  if (unread.length > 0) {
    const columns: Column<OffsetsResult['unread'][number]>[] = [
      { heading: 'Operator', cell: ({ operatorId }) => operatorId },
      { heading: 'Subtask', cell: ({ subtask }) => `#${subtask}`, align: 'right' },
      { heading: 'Where', cell: ({ path }) => path, minimum: 24 },
      { heading: 'Reason', cell: ({ reason }) => reason, minimum: 24, paint: () => view.style.bad },
    ];
    blocks.push(titled('Could not be read', columns, unread, view));
  }
  if (blocks.length === 0) yield 'No source and no sink with state of its own\n';
  for (const [index, block] of blocks.entries()) {
    if (index > 0) yield '\n';
    yield* block;
  }
}

function byOperator(sources: readonly SourceOffset[]): SourceOffset[][] {
  const groups = new Map<string, SourceOffset[]>();
  for (const source of sources) {
    const group = groups.get(source.operatorId);
    if (group) group.push(source);
    else groups.set(source.operatorId, [source]);
  }
  return [...groups.values()];
}

function* titled<Row>(title: string, columns: readonly Column<Row>[], rows: readonly Row[], view: View) {
  yield renderTitle(title, view);
  yield* tableLines(columns, rows, view);
}

function nameOf({ uid, name, operatorId }: { uid: string | null; name: string | null; operatorId: string }): string {
  return name ?? uid ?? operatorId;
}

function* renderSource(sources: readonly SourceOffset[], view: View): Generator<string> {
  const [first] = sources;
  if (first === undefined) return;
  const kind = first.source === 'kafka-source' ? 'KafkaSource' : 'FlinkKafkaConsumer';
  const named = nameOf(first) === first.operatorId ? '' : `, ${first.operatorId}`;
  const uid = first.uid === null || first.uid === nameOf(first) ? '' : `, uid ${first.uid}`;
  const note = `${kind}${named}${uid}, ${plural(sources.length, 'partition')}`;
  yield renderTitle(printable(nameOf(first)), view, `  ${printable(note)}`);
  yield* tableLines<SourceOffset>(
    [
      { heading: 'Topic', cell: ({ topic }) => topic, paint: () => view.style.name },
      { heading: 'Partition', cell: ({ partition }) => String(partition), align: 'right' },
      { heading: 'Next offset', cell: ({ offset, sentinel }) => positionText(offset, sentinel), align: 'right' },
      {
        heading: 'Stops before',
        cell: ({ stopOffset, stopSentinel }) => positionText(stopOffset, stopSentinel),
        align: 'right',
        optional: true,
      },
      { heading: 'Reader', cell: readerText },
    ],
    sources,
    view,
  );
}

function positionText(offset: number | string | null, sentinel: OffsetSentinel | null): string {
  return sentinel ?? (offset === null ? '' : String(offset));
}

function readerText({ subtask, assigned }: SourceOffset): string {
  if (subtask !== null) return `#${subtask}`;
  return assigned ? 'none has it now' : 'not yet assigned';
}

const OPERATOR = { heading: 'Operator', cell: nameOf };
const SUBTASK = {
  heading: 'Subtask',
  cell: ({ subtask }: { readonly subtask: number | null }) => (subtask === null ? '' : `#${subtask}`),
  align: 'right',
} as const;

const TRANSACTION_COLUMNS: readonly Column<SinkTransaction>[] = [
  OPERATOR,
  SUBTASK,
  { heading: 'Transactional id', cell: ({ transactionalId }) => transactionalId },
  { heading: 'Producer', cell: ({ producerId }) => String(producerId ?? ''), align: 'right', optional: true },
  { heading: 'Epoch', cell: ({ epoch }) => String(epoch ?? ''), align: 'right', optional: true },
  { heading: 'Checkpoint', cell: ({ checkpointId }) => String(checkpointId), align: 'right' },
  { heading: 'State', cell: ({ kind }) => (kind === 'committable' ? 'to be committed' : 'pre-committed') },
];

const WRITER_COLUMNS: readonly Column<SinkWriter>[] = [
  OPERATOR,
  SUBTASK,
  { heading: 'Prefix of its transactions', cell: ({ transactionalIdPrefix }) => transactionalIdPrefix },
  {
    heading: 'Owns',
    cell: ({ ownedSubtask, totalOwnedSubtasks }) =>
      ownedSubtask === null || totalOwnedSubtasks === null ? '' : `${ownedSubtask} of ${totalOwnedSubtasks}`,
    optional: true,
  },
];

const OTHER_COLUMNS: readonly Column<FramedState>[] = [
  OPERATOR,
  { heading: 'What', cell: ({ part }) => part },
  SUBTASK,
  { heading: 'Version', cell: ({ version }) => String(version), align: 'right' },
  {
    heading: 'Bytes (base64)',
    cell: ({ bytes }) => (bytes.length > SHOWN_CHARACTERS ? `${bytes.slice(0, SHOWN_CHARACTERS)}…` : bytes),
  },
];
