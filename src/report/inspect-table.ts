/** The tables of operators in `ckpt inspect`. */
import type { InspectedOperator, InspectResult } from '../operations/inspect-result.js';
import { formatBytes, formatCount, formatPercent } from './format.js';
import { describeSkew, isSkewed, skewOf } from './skew.js';
import { type Column, renderTable } from './table.js';
import type { View } from './view.js';

/** Operators with state, the biggest first. */
export function renderOperators(
  operators: readonly InspectedOperator[],
  checkpoint: Pick<InspectResult, 'stateSize'>,
  view: View,
): string {
  return renderTable(operatorColumns(checkpoint, view), [...operators].sort(bySize), view);
}

/** Operators of which there is nothing to restore. */
export function renderStatelessOperators(operators: readonly InspectedOperator[], view: View): string {
  return renderTable(
    [
      { heading: 'Operator', cell: shortName, paint: () => view.style.name },
      { heading: 'Par./max', cell: parallelism, align: 'right' },
      { heading: 'Finished', cell: finishedText, optional: true },
      { heading: 'Uid', cell: uidText, optional: true, priority: 2 },
      { heading: 'Id', cell: idText, optional: true, priority: 1 },
    ],
    operators,
    view,
  );
}

const big = (bytes: number | string): bigint => BigInt(bytes);

function bySize(a: InspectedOperator, b: InspectedOperator): number {
  const difference = big(b.stateSize) - big(a.stateSize);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

/** The best name there is. */
export function shortName({ name, uid, operatorId }: Pick<InspectedOperator, 'name' | 'uid' | 'operatorId'>): string {
  return name ?? uid ?? operatorId;
}

const parallelism = (operator: InspectedOperator): string => `${operator.parallelism}/${operator.maxParallelism}`;

function finishedText({ finished, finishedSubtasks, subtasks }: InspectedOperator): string {
  if (finished) return 'yes';
  return finishedSubtasks > 0 ? `${finishedSubtasks} of ${subtasks}` : '';
}

/** Empty where the id stands for the name already. */
function idText(operator: InspectedOperator): string {
  return shortName(operator) === operator.operatorId ? '' : operator.operatorId;
}

/** Empty where it stands for the name already. */
function uidText({ uid, name, uidVerdict }: InspectedOperator): string {
  if (uidVerdict === 'mismatch') return `${uid} (the id is not made of it)`;
  if (uid === null) return uidVerdict === 'not-set' ? '(not set)' : '';
  return name === null ? '' : uid;
}

/** A minimum for cells that are not worth wrapping: they move below their row instead. */
const WHOLE = 48;

function operatorColumns(checkpoint: Pick<InspectResult, 'stateSize'>, view: View): Column<InspectedOperator>[] {
  const bytes = (pick: (operator: InspectedOperator) => number | string) => (operator: InspectedOperator) =>
    big(pick(operator)) === 0n ? '' : formatBytes(big(pick(operator)));
  return [
    { heading: 'Operator', cell: shortName, minimum: 20, paint: () => view.style.name },
    { heading: 'Par./max', cell: parallelism, align: 'right' },
    { heading: 'State', cell: ({ stateSize }) => formatBytes(big(stateSize)), align: 'right' },
    {
      heading: 'Share',
      cell: ({ stateSize }) => formatPercent(big(stateSize), big(checkpoint.stateSize)),
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
      minimum: WHOLE,
      paint: (operator) => (isSkewed(skewOf(operator)) ? view.style.warning : view.style.muted),
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
    { heading: 'Id', cell: idText, optional: true, priority: 1 },
  ];
}

function biggest(operator: InspectedOperator): string {
  const factor = skewOf(operator);
  const { largestSubtask } = operator;
  if (!largestSubtask || factor === undefined) return '';
  return `#${largestSubtask.index} ${formatBytes(big(largestSubtask.bytes))} (${describeSkew(factor)})`;
}
