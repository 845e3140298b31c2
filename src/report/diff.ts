/** What `ckpt diff` shows: the verdict, files, then operators by how much they grew. */
import type { Change, DiffedOperator, DiffedState, DiffResult, DiffSide } from '../operations/diff/result.js';
import { formatBytes, formatCount, formatPercent, plural } from './format.js';
import { type Column, renderFields, renderTable } from './table.js';
import type { Renderer, View } from './view.js';

/** The whole text. */
export const renderDiff: Renderer<DiffResult> = function* (document, view) {
  yield header(document, view);
  const changed = document.operators.filter(({ change }) => change !== 'same').sort(byGrowth);
  const same = document.operators.length - changed.length;
  if (changed.length > 0) {
    yield `\n${view.style.title(plural(changed.length, 'operator'))}${view.style.muted(' not as before, the most grown first')}\n`;
    yield renderTable(columns(document, view), changed, view);
  }
  if (same > 0) yield `\n${plural(same, 'operator')} as before.\n`;
  const other = document.changed.filter(({ operatorId }) => operatorId === null);
  for (const { field } of other) yield `\n${view.style.warning(`${field}: not as before`)}\n`;
};

function header(document: DiffResult, view: View): string {
  const { files, same, old, new: now } = document;
  const growth = big(now.stateSize) - big(old.stateSize);
  const verdict = same
    ? files.relocated > 0
      ? 'the same, with copies of the files at another place'
      : 'the same'
    : 'they differ';
  return renderFields(
    [
      ['Old', describe(old)],
      ['New', describe(now)],
      ['Result', verdict, same ? view.style.good : view.style.warning],
      [
        'State',
        `${formatBytes(big(old.stateSize))} → ${formatBytes(big(now.stateSize))} (${signed(growth)}, ${formatPercent(big(now.stateSize), big(old.stateSize))})`,
      ],
      ['Files', fileText(document)],
    ],
    view,
  );
}

function describe({ pointer, checkpointId, version }: DiffSide): string {
  return `${pointer} (checkpoint id ${checkpointId}, metadata version ${version})`;
}

function fileText({ files }: DiffResult): string {
  const { common, added, removed, addedBytes, removedBytes, commonBytes, relocated } = files;
  if (common + added + removed === 0) return 'none in either: all state is inside the metadata';
  const parts = [
    `${plural(common, 'file')} in common (${formatBytes(commonBytes)})`,
    `${formatCount(added)} new (${formatBytes(addedBytes)})`,
    `${formatCount(removed)} gone (${formatBytes(removedBytes)})`,
  ];
  if (relocated > 0) parts.push(`${formatCount(relocated)} of the new ones with name and size of a gone one`);
  return parts.join(', ');
}

const big = (bytes: number | string): bigint => BigInt(bytes);

function signed(bytes: bigint): string {
  return bytes === 0n ? '±0' : `${bytes > 0n ? '+' : '−'}${formatBytes(bytes < 0n ? -bytes : bytes)}`;
}

function byGrowth(a: DiffedOperator, b: DiffedOperator): number {
  const difference = big(b.growth) - big(a.growth);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

function columns(document: DiffResult, view: View): Column<DiffedOperator>[] {
  const changesOf = new Map<string, Change[]>();
  for (const change of document.changed) {
    const known = changesOf.get(change.operatorId ?? '');
    if (known) known.push(change);
    else changesOf.set(change.operatorId ?? '', [change]);
  }
  const renumbered = new Map(document.renumbered.map((entry) => [entry.new, entry]));
  const changeText = ({ change, operatorId }: DiffedOperator): string => {
    const entry = renumbered.get(operatorId);
    return change === 'renumbered' && entry ? `id changed (same ${entry.by})` : change;
  };
  const details = (operator: DiffedOperator): string => {
    if (operator.change === 'added' || operator.change === 'removed') return '';
    const entry = renumbered.get(operator.operatorId);
    const parts = (changesOf.get(operator.operatorId) ?? []).flatMap((change) => changeDetail(change) ?? []);
    return [...(entry ? [`was ${entry.old}`] : []), ...parts].join('; ');
  };
  const size = (bytes: number | string | null): string => (bytes === null ? '' : formatBytes(big(bytes)));
  return [
    {
      heading: 'Operator',
      cell: ({ name, uid, operatorId }) => name ?? uid ?? operatorId,
      minimum: 20,
      paint: () => view.style.name,
    },
    { heading: 'Change', cell: changeText, minimum: 12, paint: ({ change }) => paintOf(change, view) },
    { heading: 'Old', cell: ({ oldStateSize }) => size(oldStateSize), align: 'right' },
    { heading: 'New', cell: ({ newStateSize }) => size(newStateSize), align: 'right' },
    { heading: 'Growth', cell: ({ growth }) => signed(big(growth)), align: 'right' },
    { heading: 'Details', cell: details, optional: true, minimum: 40, priority: 2 },
    {
      heading: 'Id',
      cell: ({ operatorId, name, uid }) => (name === null && uid === null ? '' : operatorId),
      optional: true,
      minimum: 32,
      priority: 1,
    },
  ];
}

function paintOf(change: DiffedOperator['change'], { style }: View): (text: string) => string {
  switch (change) {
    case 'added':
      return style.good;
    case 'removed':
      return style.bad;
    case 'renumbered':
      return style.warning;
    default:
      return style.muted;
  }
}

/** What a person wants to know beside the sizes; nothing for those. */
function changeDetail({ field, old, new: now }: Change): string | undefined {
  switch (field) {
    case 'stateSize':
      return undefined;
    case 'keyedStateSize':
    case 'operatorStateSize':
    case 'channelStateSize':
    case 'coordinatorStateSize': {
      const growth = BigInt(`${now}`) - BigInt(`${old}`);
      return `${field.slice(0, -'StateSize'.length)} ${signed(growth)}`;
    }
    case 'states':
      return `states ${statesDetail(old as unknown as DiffedState[], now as unknown as DiffedState[])}`;
    case 'stateHandles':
      return 'other state of the same size';
    default:
      return `${field} ${old ?? 'none'} → ${now ?? 'none'}`;
  }
}

function statesDetail(old: readonly DiffedState[], now: readonly DiffedState[]): string {
  const names = (states: readonly DiffedState[]): string[] => states.map(({ name }) => name);
  const added = names(now).filter((name) => !names(old).includes(name));
  const removed = names(old).filter((name) => !names(now).includes(name));
  const parts = [...added.map((name) => `+${name}`), ...removed.map((name) => `−${name}`)];
  return parts.length > 0 ? parts.join(' ') : 'distributed in another way';
}
