/** The text of `ckpt read`: rows as tables while they come, and how many entries there are. */

import type { StateValue } from '../format/value/value-serializer.js';
import { type Expiry, isExpired } from '../operations/state/lines.js';
import type { ReadResult, StateCount } from '../operations/state/read-state.js';
import { isStamped, type Row, textOf } from '../operations/state/rows.js';
import { formatCount, plural } from './format.js';
import { printable } from './printable.js';
import { type Column, renderTable } from './table.js';
import { renderTitle } from './title.js';
import type { View } from './view.js';

/** Rows of one operator that make one table. */
export const TABLE_ROWS = 1000;

/** Who the rows belong to. */
export interface RowsOf {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
}

/** The line above the rows of an operator. */
export function renderOperatorTitle({ operatorId, uid, name }: RowsOf, view: View): string {
  const names = [name, uid === null ? null : `uid ${uid}`].filter((part) => part !== null);
  if (names.length === 0) return renderTitle(operatorId, view);
  return renderTitle(printable(names.join(', ')), view, `  ${operatorId}`);
}

/** Rows as a table. */
export function renderRows(rows: readonly Row[], view: View, expiry: Expiry | undefined): string {
  const columns: Column<Row>[] = [
    { heading: 'State', cell: ({ state }) => state, paint: () => view.style.name, minimum: 8 },
    { heading: 'Subtask', cell: ({ subtask }) => `#${subtask}`, align: 'right', priority: 0 },
    {
      heading: 'Group',
      cell: ({ keyGroup }) => (keyGroup === null ? '' : `${keyGroup}`),
      align: 'right',
      optional: true,
      priority: 1,
    },
    { heading: 'Key', cell: ({ key }) => (key === undefined ? '' : textOf(key)), optional: true, minimum: 12 },
    { heading: 'Namespace', cell: ({ namespace }) => namespaceText(namespace), optional: true, minimum: 12 },
    { heading: 'Value', cell: valueText, optional: true, minimum: 20 },
    { heading: 'Last access', cell: accessText, optional: true, minimum: 24 },
    {
      heading: 'Expired',
      cell: (row) => (expiry && isExpired(row, expiry) ? 'expired' : ''),
      optional: true,
      paint: () => view.style.warning,
    },
  ];
  return renderTable(columns, rows, view);
}

/** Counts as a table. */
export function* renderCounts(result: ReadResult, view: View): Generator<string> {
  const { counts, entries } = result;
  yield renderTable<StateCount>(
    [
      { heading: 'Operator', cell: operatorText, minimum: 12 },
      { heading: 'State', cell: ({ name }) => name, paint: () => view.style.name },
      { heading: 'Kind', cell: ({ kind }) => kind },
      { heading: 'Entries', cell: (count) => formatCount(count.entries), align: 'right' },
    ],
    counts,
    view,
  );
  yield `${plural(entries, 'entry', 'entries')} in ${plural(counts.length, 'state')}\n`;
}

/** What is said behind the rows. */
export function renderReadEnd({ entries, more }: ReadResult, view: View): string {
  if (entries === 0) return 'No entries\n';
  if (more > 0) return `${view.style.muted(`${plural(more, 'more entry', 'more entries')}, not shown`)}\n`;
  return '';
}

function operatorText({ operatorName, uid, operatorId }: StateCount): string {
  return operatorName ?? uid ?? operatorId;
}

function namespaceText(namespace: StateValue | undefined): string {
  return namespace === null || namespace === undefined ? '' : textOf(namespace);
}

/** The value without what time to live adds to it. */
function valueText({ value, entries, timestamp, part }: Row): string {
  if (timestamp !== undefined) return timeText(timestamp);
  if (!entries) return value === undefined ? '' : textOf(plain(value));
  const pairs = entries.map((entry) => `${textOf(entry.key)} → ${textOf(plain(entry.value))}`).join(', ');
  return part === 'first' || part === 'middle' ? `${pairs}, …` : pairs;
}

function plain(value: StateValue): StateValue {
  if (Array.isArray(value)) return value.map((element: StateValue) => (isStamped(element) ? element.value : element));
  return isStamped(value) ? value.value : value;
}

const LATEST_TIME = 8.64e15;

function timeText(milliseconds: number | string): string {
  const time = Number(milliseconds);
  return Math.abs(time) <= LATEST_TIME ? new Date(time).toISOString() : String(milliseconds);
}

function accessText(row: Row): string {
  const times = (row.entries?.map(({ value }) => value) ?? (Array.isArray(row.value) ? row.value : [row.value]))
    .filter(isStamped)
    .map(({ lastAccess }) => Number(lastAccess));
  if (!row.ttl || times.length === 0) return '';
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return first === last ? timeText(first) : `${timeText(first)} – ${timeText(last)}`;
}
