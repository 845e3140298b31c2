/** What `ckpt diff --contents` shows: the verdict, the states that differ, then single entries. */
import type {
  ContentsDiff,
  EntryDifference,
  OperatorContentsDiff,
  StateDiff,
} from '../operations/contents-diff/result.js';
import { formatCount, plural } from './format.js';
import { printable } from './printable.js';
import { type Column, renderFields, renderTable } from './table.js';
import type { Renderer, View } from './view.js';
import { wrapText } from './wrap.js';

/** Longer values are cut here; `--json` has them whole. */
const MOST_TEXT = 400;
const SHOWN_FIELDS = 10;
const SHOWN_NOTES = 10;

interface StateRow {
  readonly operator: OperatorContentsDiff;
  readonly state: StateDiff;
}

/** The whole text. */
export const renderContentsDiff: Renderer<ContentsDiff> = function* (document, view) {
  const rows = document.operators.flatMap((operator) => operator.states.map((state) => ({ operator, state })));
  const changed = rows.filter(({ state }) => state.changed + state.added + state.removed > 0);
  yield header(document, rows, view);
  if (changed.length > 0) {
    yield `\n${view.style.title(plural(changed.length, 'state'))}${view.style.muted(' not as before')}\n`;
    yield renderTable(COLUMNS, changed, view);
  }
  const names = new Map(document.operators.map((operator) => [operator.operatorId, nameOf(operator)]));
  let shown = '';
  for (const difference of document.differences) {
    const place = `${names.get(difference.operatorId) ?? difference.operatorId}, ${difference.state}`;
    if (place !== shown) yield `\n${view.style.title(printable(place))}\n`;
    shown = place;
    yield* entryLines(difference, view);
  }
  if (document.more > 0) yield `\n${plural(document.more, 'more difference')} (--limit shows them)\n`;
  yield* notes(document, view);
};

function header(document: ContentsDiff, rows: readonly StateRow[], view: View): string {
  const sum = (field: 'unchanged' | 'changed' | 'added' | 'removed'): number =>
    rows.reduce((total, { state }) => total + state[field], 0);
  const differs = sum('changed') + sum('added') + sum('removed') > 0;
  const isComplete = document.undecoded.length + document.unread.length === 0;
  const verdict = differs ? 'they differ' : isComplete ? 'the same' : 'no difference in what could be read';
  return renderFields(
    [
      ['Old', document.old],
      ['New', document.new],
      ['Result', verdict, document.same ? view.style.good : view.style.warning],
      [
        'Entries',
        `${formatCount(sum('unchanged'))} unchanged, ${formatCount(sum('changed'))} changed, ` +
          `${formatCount(sum('added'))} added, ${formatCount(sum('removed'))} removed`,
      ],
    ],
    view,
  );
}

function nameOf({ uid, name, operatorId }: OperatorContentsDiff): string {
  return uid ?? name ?? operatorId;
}

const count =
  (field: 'unchanged' | 'changed' | 'added' | 'removed') =>
  ({ state }: StateRow): string =>
    formatCount(state[field]);

const COLUMNS: readonly Column<StateRow>[] = [
  { heading: 'Operator', cell: ({ operator }) => nameOf(operator), minimum: 16 },
  { heading: 'State', cell: ({ state }) => state.name, minimum: 16 },
  { heading: 'Kind', cell: ({ state }) => state.kind, priority: 1 },
  { heading: 'Unchanged', cell: count('unchanged'), align: 'right', priority: 2 },
  { heading: 'Changed', cell: count('changed'), align: 'right', paint: (_, { style }) => style.warning },
  { heading: 'Added', cell: count('added'), align: 'right', paint: (_, { style }) => style.good },
  { heading: 'Removed', cell: count('removed'), align: 'right', paint: (_, { style }) => style.bad },
];

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

function* entryLines(difference: EntryDifference, view: View): Generator<string> {
  const { change, key, namespace, old, new: now, fields = [], times, cut } = difference;
  const { style } = view;
  const paint = change === 'added' ? style.good : change === 'removed' ? style.bad : style.warning;
  const place = key === undefined ? '' : text(key);
  const within = namespace === undefined || namespace === null ? '' : ` in ${text(namespace)}`;
  const value = change === 'changed' ? '' : text(change === 'added' ? now : old);
  const often = times === undefined ? '' : `, ${formatCount(times)} times`;
  const line = [place + within, value === 'null' && place !== '' ? '' : value].filter((part) => part !== '').join(': ');
  yield* lines(`${SIGNS[change]} ${line}${often}`, paint, view, '  ');
  for (const field of fields.slice(0, SHOWN_FIELDS)) {
    const name = field.path === '' ? '' : `${field.path}: `;
    yield* lines(`${name}${text(field.old)} → ${text(field.new)}`, undefined, view, '      ');
  }
  if (fields.length > SHOWN_FIELDS) {
    yield* lines(`and ${plural(fields.length - SHOWN_FIELDS, 'more field')}`, style.muted, view, '      ');
  }
  if (cut) yield* lines('too large to be compared whole here', style.muted, view, '      ');
}

function* lines(
  content: string,
  paint: ((text: string) => string) | undefined,
  view: View,
  indent: string,
): Generator<string> {
  for (const line of wrapText(printable(content), Math.max(20, view.width - indent.length - 2))) {
    yield `${indent}${paint ? paint(line) : line}\n`;
  }
}

function text(value: unknown): string {
  const whole = value === undefined ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);
  if (whole.length <= MOST_TEXT) return whole;
  return `${whole.slice(0, MOST_TEXT)}… (${plural(whole.length, 'character')})`;
}

function* notes({ undecoded, unread }: ContentsDiff, view: View): Generator<string> {
  const all = [
    ...undecoded.map(({ side, operatorId, state, entries, reason }) => {
      const which = entries === null ? 'some entries' : plural(entries, 'entry', 'entries');
      return `${side}: ${which} of ${state} in ${operatorId} could not be decoded: ${reason}`;
    }),
    ...unread.map(({ side, path, reason }) => `${side}: ${path} could not be read: ${reason}`),
  ];
  if (all.length === 0) return;
  yield `\n${view.style.bad('Not compared')}\n`;
  for (const note of all.slice(0, SHOWN_NOTES)) yield* lines(note, undefined, view, '  ');
  if (all.length > SHOWN_NOTES) yield `  and ${formatCount(all.length - SHOWN_NOTES)} more (--json has all)\n`;
}
