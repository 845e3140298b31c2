/** The text of `ckpt states`. */
import type { ListedOperator, ListedState, StatesResult } from '../operations/state/list-states.js';
import { formatBytes, formatCount, plural } from './format.js';
import { printable } from './printable.js';
import { renderTable } from './table.js';
import { renderTitle } from './title.js';
import type { View } from './view.js';

const SHOWN_SUBTASKS = 8;

/** Renders the document: a table for each operator, then what could not be read. */
export function* renderStates(result: StatesResult, view: View): Generator<string> {
  const { operators, unread } = result;
  if (operators.length === 0) yield `${unread.length > 0 ? 'No state that could be read' : 'No state'}\n`;
  for (const [index, operator] of operators.entries()) {
    if (index > 0) yield '\n';
    yield* renderOperator(operator, view);
  }
  if (unread.length === 0) return;
  yield `\n${renderTitle('Could not be read', view)}`;
  yield renderTable(
    [
      { heading: 'Operator', cell: ({ operatorId }) => operatorId.slice(0, 8) },
      { heading: 'Subtask', cell: ({ subtask }) => `#${subtask}`, align: 'right' },
      { heading: 'File', cell: ({ path }) => path, minimum: 24 },
      { heading: 'Reason', cell: ({ reason }) => reason, minimum: 24, paint: () => view.style.bad },
    ],
    unread,
    view,
  );
}

function* renderOperator(operator: ListedOperator, view: View): Generator<string> {
  const { name, uid, operatorId, states, disagreements, otherState } = operator;
  const names = [name, uid === null ? undefined : `uid ${uid}`].filter((part) => part !== null && part !== undefined);
  yield renderTitle(printable(names.length > 0 ? names.join(', ') : operatorId), view, notes(operator));
  yield renderTable<ListedState>(
    [
      { heading: 'State', cell: (state) => state.name, paint: () => view.style.name },
      { heading: 'Kind', cell: ({ kind, ttl }) => (ttl ? `${kind}, TTL` : kind) },
      { heading: 'Key', cell: keyText, optional: true, priority: 3 },
      { heading: 'Namespace', cell: namespaceText, optional: true, priority: 2 },
      { heading: 'Value', cell: valueText, optional: true, minimum: 20 },
      { heading: 'Subtasks', cell: ({ subtasks }) => formatCount(subtasks), align: 'right', priority: 1 },
      {
        heading: 'Entries',
        cell: ({ entries }) => (entries === null ? '' : formatCount(entries)),
        align: 'right',
        optional: true,
      },
      {
        heading: 'Bytes',
        cell: ({ bytes }) => (bytes === null ? '' : formatBytes(bytes)),
        align: 'right',
        optional: true,
        priority: 0,
      },
    ],
    states,
    view,
  );
  for (const { state, subtasks, found, expected } of disagreements) {
    const shown = subtasks.slice(0, SHOWN_SUBTASKS).map((index) => `#${index}`);
    const more = subtasks.length > SHOWN_SUBTASKS ? ` and ${subtasks.length - SHOWN_SUBTASKS} more` : '';
    const text = `${state}: ${found} in ${shown.join(', ')}${more}, ${expected} in the others`;
    yield `${view.style.warning(printable(text))}\n`;
  }
  if (otherState.length > 0) yield `${view.style.muted(`Also there, not listed: ${otherState.join(', ')} state`)}\n`;
}

function notes({ name, uid, operatorId, backend, keyType, parallelism, states }: ListedOperator): string {
  const parts = [
    name === null && uid === null ? undefined : operatorId,
    backend ?? undefined,
    keyType === null ? undefined : `keys of ${keyType}`,
    plural(parallelism, 'subtask'),
    states.length === 0 ? 'no named state' : undefined,
  ];
  return `  ${printable(parts.filter((part) => part !== undefined).join(', '))}`;
}

/** The key of the operator stands in its title; a broadcast state has keys of its own. */
function keyText({ kind, keyType }: ListedState): string {
  return kind === 'broadcast' ? (keyType ?? '') : '';
}

function namespaceText({ namespaceType }: ListedState): string {
  return namespaceType === 'VoidNamespace' ? '' : (namespaceType ?? '');
}

function valueText({ kind, mapKeyType, valueDetail }: ListedState): string {
  return kind === 'map' && mapKeyType !== null ? `${mapKeyType} → ${valueDetail ?? ''}` : (valueDetail ?? '');
}
