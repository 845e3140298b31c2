/** What `ckpt inspect` shows: a header that answers at a glance, then the operators, the biggest first. */

import type { OperatorDetail } from '../operations/inspect-operator.js';
import type { InspectedOperator, InspectResult } from '../operations/inspect-result.js';
import type { UidMatches } from '../operations/match-uids.js';
import { formatAge, formatBytes, formatCount, formatExactBytes, formatPercent, formatTime, plural } from './format.js';
import { renderOperator } from './inspect-operator.js';
import { printable } from './printable.js';
import { type Column, renderFields, renderTable } from './table.js';
import type { Renderer, View } from './view.js';

/** The document of `ckpt inspect`. */
export interface InspectDocument extends InspectResult {
  readonly operator?: OperatorDetail;
  readonly uids?: UidMatches;
}

/** A subtask this many times bigger than the average is worth a look. */
const SKEW_WARNING = 2;
/** Directories listed one by one; an entropy-injecting store has one for each file. */
const SHOWN_DIRECTORIES = 12;

/** The whole text. */
export const renderInspect: Renderer<InspectDocument> = function* (document, view) {
  yield header(document, view);
  if (document.operator) {
    yield '\n';
    yield* renderOperator(document.operator, view);
  } else {
    yield* directories(document, view);
    yield* operators(document, view);
  }
  if (document.uids) yield* uids(document, document.uids, view);
};

/** What kind of snapshot it is, in words. */
export function describeKind({ kind, formatType }: Pick<InspectResult, 'kind' | 'formatType'>): string {
  if (kind === 'savepoint') return formatType === null ? 'savepoint' : `savepoint, ${formatType.toLowerCase()}`;
  if (kind === 'unknown') return 'checkpoint or savepoint (this version of the metadata does not say)';
  return kind;
}

function header(document: InspectDocument, view: View): string {
  const { style } = view;
  const time = Date.parse(document.time);
  const traits = (['incremental', 'unaligned', 'changelog', 'fileMerging'] as const)
    .filter((trait) => document[trait])
    .map((trait) => (trait === 'fileMerging' ? 'file merging' : trait));
  const { masterStates } = document;
  const title = `${printable(document.pointer)}\n`;
  return (
    style.title(title.trimEnd()) +
    '\n' +
    renderFields(
      [
        ['Checkpoint id', formatCount(BigInt(document.checkpointId)).replaceAll(',', '')],
        ['Kind', [describeKind(document), ...traits].join(', ')],
        ['Written', `${formatTime(time)} (${formatAge(time, view.now)})`],
        ['Job', document.jobId ?? undefined],
        ['Flink', `${document.flinkVersions} (derived from metadata version ${document.version})`],
        ['Full size', formatExactBytes(BigInt(document.stateSize)), style.name],
        ['Added by it', added(document)],
        ['Inline', document.inlineBytes > 0 ? `${formatBytes(document.inlineBytes)} inside the metadata` : undefined],
        ['In files', inFiles(document)],
        ['Metadata', `${formatBytes(document.metadataSize)}, ${printable(document.metadataPath)}`],
        ['Can be moved', movable(document), document.relocatable === 'foreign' ? style.warning : style.good],
        ['Max parallelism', maxParallelism(document)],
        [
          'Master states',
          masterStates.length > 0
            ? masterStates.map(({ name, size }) => `${name} (${formatBytes(size)})`).join(', ')
            : undefined,
        ],
        [
          'After the end',
          document.trailingBytes > 0 ? `${plural(document.trailingBytes, 'byte')} that Flink ignores` : undefined,
          style.warning,
        ],
      ],
      view,
    )
  );
}

function added({ checkpointedSize, stateSize }: InspectDocument): string {
  return `${formatExactBytes(BigInt(checkpointedSize))}, ${formatPercent(BigInt(checkpointedSize), BigInt(stateSize))} of the full size`;
}

function inFiles(document: InspectDocument): string | undefined {
  if (document.files === 0) return 'no files: everything is inside the metadata';
  const byRole = new Map<string, { files: number; bytes: number }>();
  for (const { role, files, bytes } of document.directories) {
    const sum = byRole.get(role) ?? { files: 0, bytes: 0 };
    byRole.set(role, { files: sum.files + files, bytes: sum.bytes + bytes });
  }
  const parts = [...byRole]
    .filter(([, { files }]) => files > 0)
    .map(([role, { files, bytes }]) => `${role} ${formatBytes(bytes)} in ${formatCount(files)}`);
  return `${formatBytes(document.fileBytes)} in ${plural(document.files, 'file')}${parts.length > 1 ? ` (${parts.join(', ')})` : `, ${parts[0]?.split(' ')[0]}`}`;
}

function movable({ relocatable, directories }: InspectDocument): string {
  const others = directories.filter(({ role }) => role !== 'exclusive');
  switch (relocatable) {
    case 'inline':
      return 'yes: everything is inside the metadata';
    case 'relative':
      return 'yes: a plain copy of the directory works, all files are named relative to it';
    case 'absolute-inside':
      return 'not by a plain copy: all files are in this directory, but named by absolute paths that would still point here; ckpt rebase mends a copy';
    case 'foreign':
      return `not by itself: it names files in ${plural(others.length, 'other directory', 'other directories')} (below); ckpt copy collects them`;
  }
}

/** One value where all agree; else all values and who has the rare ones. It matters for keyed state only. */
function maxParallelism({ operatorStates }: InspectDocument): string | undefined {
  const byValue = new Map<number, InspectedOperator[]>();
  for (const operator of operatorStates) {
    byValue.set(operator.maxParallelism, [...(byValue.get(operator.maxParallelism) ?? []), operator]);
  }
  const groups = [...byValue].sort((a, b) => b[1].length - a[1].length);
  if (groups.length <= 1) return groups[0] ? `${groups[0][0]}` : undefined;
  const [usual, ...rest] = groups;
  const deviating = rest.map(([value, who]) => {
    const keyed = who.some(({ backend }) => backend !== null) ? '' : ', no keyed state';
    return `${value} (${who.map(shortName).join(', ')}${keyed})`;
  });
  return `${usual?.[0]} (${plural(usual?.[1].length ?? 0, 'operator')}), ${deviating.join(', ')}`;
}

/** The best name there is. */
export function shortName({ name, uid, operatorId }: Pick<InspectedOperator, 'name' | 'uid' | 'operatorId'>): string {
  return name ?? uid ?? operatorId;
}

function* directories(document: InspectDocument, view: View): Generator<string> {
  if (document.directories.length === 0) return;
  const rows = view.verbose ? document.directories : document.directories.slice(0, SHOWN_DIRECTORIES);
  yield `\n${view.style.title(document.directories.length === 1 ? 'Directory' : 'Directories')}\n`;
  yield renderTable(
    [
      { heading: 'Role', cell: ({ role }) => role },
      { heading: 'Files', cell: ({ files }) => formatCount(files), align: 'right' },
      { heading: 'Bytes', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
      { heading: 'Directory', cell: ({ uri }) => uri, minimum: 24 },
    ],
    rows,
    view,
  );
  const hidden = document.directories.length - rows.length;
  if (hidden > 0)
    yield `${view.style.muted(`and ${plural(hidden, 'directory', 'directories')} more; --verbose lists all`)}\n`;
}

const big = (bytes: number | string): bigint => BigInt(bytes);

function bySize(a: InspectedOperator, b: InspectedOperator): number {
  const difference = big(b.stateSize) - big(a.stateSize);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

function* operators(document: InspectDocument, view: View): Generator<string> {
  const { operatorStates } = document;
  const withState = operatorStates.filter(({ hasState }) => hasState).sort(bySize);
  const without = operatorStates.filter(({ hasState }) => !hasState);
  if (withState.length > 0) {
    yield `\n${view.style.title(plural(withState.length, 'operator'))}${view.style.muted(', the biggest first')}\n`;
    yield renderTable(operatorColumns(document, view), withState, view);
  }
  if (without.length > 0) {
    yield `\n${view.style.title(`${plural(without.length, 'operator')} without state`)}${view.style.muted(': a restore can do without')}\n`;
    yield renderTable(
      [
        { heading: 'Operator', cell: shortName, paint: () => view.style.name },
        { heading: 'Id', cell: ({ operatorId }) => operatorId },
        { heading: 'Parallelism', cell: parallelism, align: 'right', priority: 1 },
        { heading: 'Finished', cell: finishedText, optional: true },
      ],
      without,
      view,
    );
  }
  if (operatorStates.length === 0) yield '\nNo operators.\n';
  const nameless = operatorStates.every(({ name, uid }) => name === null && uid === null);
  if (nameless && operatorStates.length > 0) {
    yield `\n${view.style.muted('Names and uids are not stored: Flink does so from 2.0 on. --uid matches uids that you know.')}\n`;
  }
}

const parallelism = (operator: InspectedOperator): string => `${operator.parallelism}/${operator.maxParallelism}`;

function finishedText({ finished, finishedSubtasks, subtasks }: InspectedOperator): string {
  if (finished) return 'yes';
  return finishedSubtasks > 0 ? `${finishedSubtasks} of ${subtasks}` : '';
}

function uidText({ uid, uidVerdict }: InspectedOperator): string {
  if (uidVerdict === 'mismatch') return `${uid} (the id is not made of it)`;
  return uid ?? (uidVerdict === 'not-set' ? '(not set)' : '');
}

function operatorColumns(document: InspectDocument, view: View): Column<InspectedOperator>[] {
  const bytes = (pick: (operator: InspectedOperator) => number | string) => (operator: InspectedOperator) =>
    big(pick(operator)) === 0n ? '' : formatBytes(big(pick(operator)));
  return [
    { heading: 'Operator', cell: shortName, minimum: 20, paint: () => view.style.name },
    { heading: 'Par./max', cell: parallelism, align: 'right' },
    { heading: 'State', cell: ({ stateSize }) => formatBytes(big(stateSize)), align: 'right' },
    {
      heading: 'Share',
      cell: ({ stateSize }) => formatPercent(big(stateSize), big(document.stateSize)),
      align: 'right',
    },
    { heading: 'Backend', cell: ({ backend }) => backend ?? '', optional: true, minimum: 7, priority: 8 },
    {
      heading: 'Files',
      cell: ({ files }) => (files === 0 ? '' : formatCount(files)),
      align: 'right',
      optional: true,
      priority: 7,
    },
    {
      heading: 'Biggest subtask',
      cell: biggest,
      priority: 6,
      optional: true,
      paint: (operator) => (isSkewed(operator) ? view.style.warning : view.style.muted),
    },
    { heading: 'Finished', cell: finishedText, optional: true, priority: 9 },
    {
      heading: 'Added',
      cell: bytes(({ checkpointedSize }) => checkpointedSize),
      align: 'right',
      optional: true,
      priority: 4,
    },
    {
      heading: 'Keyed',
      cell: bytes(({ keyedStateSize }) => keyedStateSize),
      align: 'right',
      optional: true,
      priority: 3,
    },
    {
      heading: 'Operator state',
      cell: bytes(({ operatorStateSize }) => operatorStateSize),
      align: 'right',
      optional: true,
      priority: 3,
    },
    {
      heading: 'Channels',
      cell: bytes(({ channelStateSize }) => channelStateSize),
      align: 'right',
      optional: true,
      priority: 3,
    },
    {
      heading: 'Coordinator',
      cell: bytes(({ coordinatorStateSize }) => coordinatorStateSize),
      align: 'right',
      optional: true,
      priority: 3,
    },
    { heading: 'Uid', cell: uidText, optional: true, priority: 2 },
    { heading: 'Id', cell: ({ operatorId }) => operatorId, priority: 1 },
  ];
}

/** Size of the biggest subtask as a multiple of the average. */
function skew({
  largestSubtask,
  subtasks,
  finishedSubtasks,
  stateSize,
  coordinatorStateSize,
}: InspectedOperator): number | undefined {
  const running = subtasks - finishedSubtasks;
  const total = Number(stateSize) - Number(coordinatorStateSize);
  if (!largestSubtask || running < 2 || total <= 0) return undefined;
  return Number(largestSubtask.bytes) / (total / running);
}

function isSkewed(operator: InspectedOperator): boolean {
  return (skew(operator) ?? 0) >= SKEW_WARNING;
}

function biggest(operator: InspectedOperator): string {
  const factor = skew(operator);
  if (!operator.largestSubtask || factor === undefined) return '';
  return `#${operator.largestSubtask.index} ${formatBytes(big(operator.largestSubtask.bytes))} (${factor.toFixed(1)}× avg)`;
}

function* uids(document: InspectDocument, matches: UidMatches, view: View): Generator<string> {
  const byId = new Map(document.operatorStates.map((operator) => [operator.operatorId, operator]));
  const describe = (id: string): string => {
    const operator = byId.get(id);
    return operator && operator.name !== null ? `${id} (${operator.name})` : id;
  };
  const rows = [
    ...matches.matched.map(({ uid, operatorId }) => ({ result: 'matched', uid, operator: describe(operatorId) })),
    ...matches.uidsWithoutState.map((uid) => ({ result: 'no state', uid, operator: '' })),
    ...matches.operatorsWithoutUid.map((id) => ({ result: 'no uid given', uid: '', operator: describe(id) })),
  ];
  yield `\n${view.style.title('Uids')}\n`;
  yield renderTable(
    [
      {
        heading: 'Result',
        cell: ({ result }) => result,
        paint: ({ result }) => (result === 'matched' ? view.style.good : view.style.warning),
      },
      { heading: 'Uid', cell: ({ uid }) => uid },
      { heading: 'Operator', cell: ({ operator }) => operator, minimum: 32 },
    ],
    rows,
    view,
  );
}
