/** One operator in full, for `ckpt inspect <pointer> <operator>`. */

import type { DocumentObject, DocumentValue } from '../operations/document/values.js';
import type { OperatorDetail } from '../operations/inspect-operator.js';
import type { InspectResult, SubtaskSize } from '../operations/inspect-result.js';
import { formatBytes, formatCount, formatExactBytes, formatPercent, plural } from './format.js';
import { describeSkew, isSkewed, skewOf } from './skew.js';
import { renderFields, renderTable } from './table.js';
import { renderTitle } from './title.js';
import type { View } from './view.js';

const same = (text: string): string => text;
const object = (value: DocumentValue | undefined): DocumentObject => (value ?? {}) as DocumentObject;
const list = (value: DocumentValue | undefined): readonly DocumentObject[] =>
  (value ?? []) as readonly DocumentObject[];
const bytes = (value: DocumentValue | undefined): bigint => BigInt((value ?? 0) as number | string);

/** The lines about an operator of a checkpoint. */
export function* renderOperator(
  operator: OperatorDetail,
  checkpoint: Pick<InspectResult, 'stateSize'>,
  view: View,
): Generator<string> {
  const { style } = view;
  const skew = skewOf({ ...operator, subtasks: operator.subtasks.length });
  yield renderTitle('Operator', view);
  yield renderFields(
    [
      ['Name', operator.name ?? undefined, style.name],
      ['Uid', uidText(operator)],
      ['Id', operator.operatorId],
      ['Parallelism', `${operator.parallelism}, at most ${operator.maxParallelism}`],
      ['Full size', fullSize(operator, checkpoint), style.name],
      ['Added', formatExactBytes(BigInt(operator.checkpointedSize))],
      ['Keyed state', part(operator.keyedStateSize, operator.backend === null ? '' : `, backend ${operator.backend}`)],
      [
        'Keyed names',
        operator.keyedStatesUnread ? `not known: ${operator.keyedStatesUnread}` : undefined,
        style.warning,
      ],
      ['Operator state', part(operator.operatorStateSize)],
      ['Channel state', part(operator.channelStateSize)],
      ['Coordinator', part(operator.coordinatorStateSize)],
      ['Files', operator.files > 0 ? formatCount(operator.files) : undefined],
      ['Subtask sizes', subtaskSizes(operator, skew), isSkewed(skew) ? style.warning : same],
      ['Finished', operator.finished ? 'yes: all subtasks had finished' : undefined],
    ],
    view,
  );
  yield* keyedStates(operator, view);
  yield* namedStates(operator, view);
  yield* subtasks(operator, view);
  for (const subtask of operator.subtasks) yield* handles(subtask, view);
}

function uidText({ uid, uidVerdict }: OperatorDetail): string {
  switch (uidVerdict) {
    case 'mismatch':
      return `${uid} (the id is not made of it)`;
    case 'not-set':
      return 'not set: Flink made the id of the position in the job graph, which changes with the graph';
    default:
      return uid ?? 'not stored in this metadata';
  }
}

function fullSize({ stateSize }: OperatorDetail, checkpoint: Pick<InspectResult, 'stateSize'>): string {
  const exact = formatExactBytes(BigInt(stateSize));
  if (BigInt(checkpoint.stateSize) === 0n) return exact;
  return `${exact}, ${formatPercent(BigInt(stateSize), BigInt(checkpoint.stateSize))} of the checkpoint`;
}

function subtaskSizes(
  { largestSubtask, smallestSubtask }: OperatorDetail,
  skew: number | undefined,
): string | undefined {
  if (!largestSubtask || !smallestSubtask || skew === undefined) return undefined;
  const size = (subtask: SubtaskSize): string => `${formatBytes(BigInt(subtask.bytes))} (#${subtask.index})`;
  return `from ${size(smallestSubtask)} to ${size(largestSubtask)}, the biggest ${describeSkew(skew)}`;
}

function part(size: number | string, more = ''): string | undefined {
  return BigInt(size) === 0n && more === '' ? undefined : formatExactBytes(BigInt(size)) + more;
}

function* keyedStates({ keyedStates: states = [] }: OperatorDetail, view: View): Generator<string> {
  if (states.length === 0) return;
  yield `\n${renderTitle('Named keyed states', view)}`;
  yield renderTable(
    [
      { heading: 'State', cell: ({ name }) => name, paint: () => view.style.name },
      { heading: 'Kind', cell: ({ kind, ttl }) => (ttl ? `${kind}, TTL` : kind) },
      { heading: 'Key', cell: ({ keyType }) => keyType ?? '' },
      {
        heading: 'Value',
        cell: ({ mapKeyType, valueType }) => (mapKeyType ? `${mapKeyType} → ${valueType}` : (valueType ?? '')),
      },
    ],
    states,
    view,
  );
}

function* namedStates({ namedStates: states }: OperatorDetail, view: View): Generator<string> {
  if (states.length === 0) return;
  yield `\n${renderTitle('Named operator states', view)}`;
  yield renderTable(
    [
      { heading: 'State', cell: ({ name }) => name, paint: () => view.style.name },
      { heading: 'Kind', cell: ({ kind }) => (kind === 'managed-operator' ? 'managed' : 'raw') },
      { heading: 'Distribution', cell: ({ distributionMode }) => distributionMode },
      { heading: 'Elements', cell: ({ partitions }) => formatCount(partitions), align: 'right' },
      { heading: 'Subtasks', cell: ({ subtasks }) => formatCount(subtasks), align: 'right' },
    ],
    states,
    view,
  );
}

const HANDLE_FIELDS = [
  ['managedKeyedState', 'keyed'],
  ['rawKeyedState', 'raw keyed'],
  ['managedOperatorState', 'operator'],
  ['rawOperatorState', 'raw operator'],
  ['inputChannelState', 'input channel'],
  ['resultSubpartitionState', 'result subpartition'],
] as const;

function* subtasks({ subtasks: rows }: OperatorDetail, view: View): Generator<string> {
  if (rows.length === 0) return;
  yield `\n${renderTitle('Subtasks', view)}`;
  yield renderTable<DocumentObject>(
    [
      { heading: 'Subtask', cell: ({ index }) => `#${index}`, align: 'right' },
      { heading: 'State', cell: (row) => formatBytes(bytes(row.stateSize)), align: 'right' },
      { heading: 'Added', cell: (row) => formatBytes(bytes(row.checkpointedSize)), align: 'right' },
      { heading: 'Key groups', cell: keyGroups, optional: true },
      { heading: 'Handles', cell: ({ finished, ...row }) => (finished ? 'finished: no state' : handleCounts(row)) },
    ],
    rows,
    view,
  );
}

function keyGroups(row: DocumentObject): string {
  const ranges = new Set([...list(row.managedKeyedState), ...list(row.rawKeyedState)].map(rangeText));
  return [...ranges].join(', ');
}

function rangeText(handle: DocumentObject): string {
  const { start, end } = object(handle.keyGroupRange);
  return Number(end) < Number(start) ? 'none' : `${start}–${end}`;
}

function handleCounts(row: DocumentObject): string {
  const present = HANDLE_FIELDS.map(([field, label]) => [label, list(row[field]).length] as const).filter(
    ([, n]) => n > 0,
  );
  return present.length === 0 ? 'none' : present.map(([label, n]) => (n === 1 ? label : `${n} ${label}`)).join(', ');
}

/** A line of the list of handles. */
interface HandleLine {
  readonly depth: number;
  readonly what: string;
  readonly size: string;
  readonly where: string;
}

function* handles(subtask: DocumentObject, view: View): Generator<string> {
  const lines: HandleLine[] = [];
  for (const [field, label] of HANDLE_FIELDS) {
    for (const handle of list(subtask[field])) lines.push(...handleLines(handle, label, 0));
  }
  if (lines.length === 0) return;
  yield `\n${renderTitle(`Handles of subtask #${subtask.index}`, view)}`;
  yield renderTable(
    [
      { heading: 'Handle', cell: ({ depth, what }) => `${'· '.repeat(depth)}${what}`, minimum: 28 },
      { heading: 'Bytes', cell: ({ size }) => size, align: 'right' },
      { heading: 'Where', cell: ({ where }) => where, minimum: 24 },
    ],
    lines,
    view,
  );
}

function* handleLines(handle: DocumentObject, label: string, depth: number): Generator<HandleLine> {
  const type = String(handle.type);
  yield { depth, what: `${label}: ${type}`, size: formatBytes(bytes(handle.stateSize)), where: whereText(handle) };
  for (const name of ['metaStateHandle', 'delegateStateHandle', 'delegate'] as const) {
    const inner = handle[name];
    if (inner) yield* handleLines(object(inner), name === 'metaStateHandle' ? 'meta' : 'delegate', depth + 1);
  }
  for (const [field, name] of [
    ['sharedState', 'shared'],
    ['privateState', 'private'],
  ] as const) {
    for (const file of list(handle[field]))
      yield* handleLines(object(file.handle), `${name} ${file.localPath}`, depth + 1);
  }
  for (const inner of list(handle.materializedStateHandles)) yield* handleLines(inner, 'materialized', depth + 1);
  for (const inner of list(handle.nonMaterializedStateHandles))
    yield* handleLines(inner, 'non-materialized', depth + 1);
  for (const inner of list(handle.handlesAndOffsets)) {
    if (inner.handle) yield* handleLines(object(inner.handle), `changes from ${inner.offset} on`, depth + 1);
  }
}

/** Where the bytes are, or what else tells a handle from others. */
function whereText(handle: DocumentObject): string {
  switch (handle.type) {
    case 'ByteStreamStateHandle':
      return 'inside the metadata';
    case 'FileStateHandle':
      return String(handle.filePath);
    case 'RelativeFileStateHandle':
      return String(handle.relativePath);
    case 'SegmentFileStateHandle':
      return `${handle.filePath} from ${handle.startPos} on, ${String(handle.scope).toLowerCase()}`;
    case 'EmptySegmentFileStateHandle':
      return 'no file';
    case 'InMemoryChangelogStateHandle':
      return `${plural(list(handle.changes).length, 'change')} inside the metadata, key groups ${rangeText(handle)}`;
    case 'InputChannelStateHandle':
      return `gate ${object(handle.info).gateIdx}, channel ${object(handle.info).inputChannelIdx}`;
    case 'ResultSubpartitionStateHandle':
      return `partition ${object(handle.info).partitionIdx}, subpartition ${object(handle.info).subPartitionIdx}`;
    case 'MergedInputChannelStateHandle':
    case 'MergedResultSubpartitionStateHandle':
      return plural(list(handle.unmergedHandles).length, 'channel');
    case 'IncrementalRemoteKeyedStateHandle':
      return `key groups ${rangeText(handle)}, backend id ${handle.backendIdentifier}`;
    default:
      if (handle.keyGroupRange) return `key groups ${rangeText(handle)}`;
      return plural(Object.keys(object(handle.stateNameToPartitionOffsets)).length, 'named state');
  }
}
