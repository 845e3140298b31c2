/** The text of `ckpt read`: rows as tables while they come, and how many entries there are. */

import type { ReadResult, StateCount } from '../operations/state/read-state.js';
import type { KeyText, RowText } from '../operations/state/row-text.js';
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
export function renderRows(rows: readonly RowText[], view: View): string {
  const columns: Column<RowText>[] = [
    { heading: 'State', cell: ({ state }) => state, paint: () => view.style.name, minimum: 8 },
    { heading: 'Subtask', cell: ({ subtask }) => `#${subtask}`, align: 'right', priority: 0 },
    { heading: 'Group', cell: ({ keyGroup }) => keyGroup, align: 'right', optional: true, priority: 1 },
    { heading: 'Key', cell: ({ key }) => key, optional: true, minimum: 12 },
    { heading: 'Namespace', cell: ({ namespace }) => namespace, optional: true, minimum: 12 },
    { heading: 'Value', cell: ({ value }) => value, optional: true, minimum: 20 },
    { heading: 'Last access', cell: ({ lastAccess }) => lastAccess, optional: true, minimum: 24 },
    {
      heading: 'Expired',
      cell: ({ isExpired }) => (isExpired ? 'expired' : ''),
      optional: true,
      paint: () => view.style.warning,
    },
  ];
  return renderTable(columns, rows, view);
}

/**
 * Keys as a table.
 * @param states names of the columns
 */
export function renderKeys(rows: readonly KeyText[], states: readonly string[], view: View): string {
  const columns: Column<KeyText>[] = [
    { heading: 'Group', cell: ({ keyGroup }) => keyGroup, align: 'right', priority: 0 },
    { heading: 'Key', cell: ({ key }) => key, paint: () => view.style.name, minimum: 12 },
    { heading: 'Namespace', cell: ({ namespace }) => namespace, optional: true, minimum: 12 },
    ...states.map(
      (name, index): Column<KeyText> => ({
        heading: printable(name),
        cell: (row) => row.states.get(name) ?? '',
        optional: true,
        priority: states.length - index,
      }),
    ),
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
export function renderReadEnd({ entries, more }: ReadResult, view: View, of: 'entry' | 'key' = 'entry'): string {
  if (entries === 0) return 'No entries\n';
  if (more === 0) return '';
  const count = of === 'key' ? plural(more, 'more key') : plural(more, 'more entry', 'more entries');
  return `${view.style.muted(`${count}, not shown`)}\n`;
}

function operatorText({ operatorName, uid, operatorId }: StateCount): string {
  return operatorName ?? uid ?? operatorId;
}
