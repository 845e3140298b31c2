/** What `ckpt inspect` shows: a header that answers at a glance, then the operators, the biggest first. */

import type { OperatorDetail } from '../operations/inspect-operator.js';
import type { InspectResult } from '../operations/inspect-result.js';
import type { UidMatches } from '../operations/match-uids.js';
import { formatBytes, formatCount, plural } from './format.js';
import { renderHeader, renderShortHeader } from './inspect-header.js';
import { renderOperator } from './inspect-operator.js';
import { renderOperators, renderStatelessOperators } from './inspect-table.js';
import { renderTable } from './table.js';
import { renderTitle } from './title.js';
import type { Renderer, View } from './view.js';
import { wrapText } from './wrap.js';

/** The document of `ckpt inspect`. */
export interface InspectDocument extends InspectResult {
  readonly operator?: OperatorDetail;
  readonly uids?: UidMatches;
}

/** The first version that stores names and uids of operators. */
const FIRST_WITH_NAMES = 5;
/** Directories listed one by one; an entropy-injecting store has one for each file. */
const SHOWN_DIRECTORIES = 12;

/** The whole text. */
export const renderInspect: Renderer<InspectDocument> = function* (document, view) {
  if (document.operator) {
    yield `${renderShortHeader(document, view)}\n`;
    yield* renderOperator(document.operator, document, view);
  } else {
    yield renderHeader(document, view);
    yield* directories(document, view);
    yield* operators(document, view);
  }
  if (document.uids) yield* uids(document, document.uids, view);
};

function* directories(document: InspectDocument, view: View): Generator<string> {
  if (document.directories.length === 0) return;
  const rows = view.verbose ? document.directories : document.directories.slice(0, SHOWN_DIRECTORIES);
  yield `\n${renderTitle(document.directories.length === 1 ? 'Directory' : 'Directories', view)}`;
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
    yield* mutedLines(`and ${plural(hidden, 'directory', 'directories')} more; --verbose lists all`, view);
}

function* operators(document: InspectDocument, view: View): Generator<string> {
  const { operatorStates } = document;
  const withState = operatorStates.filter(({ hasState }) => hasState);
  const without = operatorStates.filter(({ hasState }) => !hasState);
  if (withState.length > 0) {
    const note = withState.length > 1 ? ', the biggest first' : '';
    yield `\n${renderTitle(plural(withState.length, 'operator'), view, note)}`;
    yield renderOperators(withState, document, view);
  }
  if (without.length > 0) {
    yield `\n${renderTitle(`${plural(without.length, 'operator')} without state`, view, ': a restore can do without')}`;
    yield renderStatelessOperators(without, view);
  }
  if (operatorStates.length === 0) yield '\nNo operators.\n';
  const nameless = document.version < FIRST_WITH_NAMES;
  if (nameless && operatorStates.length > 0) {
    yield '\n';
    yield* mutedLines(
      'Names and uids are not stored: Flink does so from 2.0 on. --uid matches uids that you know.',
      view,
    );
  }
}

function* mutedLines(text: string, { style, width }: View): Generator<string> {
  for (const line of wrapText(text, width)) yield `${style.muted(line.trimEnd())}\n`;
}

function* uids(document: InspectDocument, matches: UidMatches, view: View): Generator<string> {
  const byId = new Map(document.operatorStates.map((operator) => [operator.operatorId, operator]));
  const describe = (id: string): string => {
    const operator = byId.get(id);
    return operator && operator.name !== null ? `${id} (${operator.name})` : id;
  };
  const rows = [
    ...matches.matched.map(({ uid, operatorId }) => ({
      result: byId.get(operatorId)?.hasState === false ? 'matched, no state' : 'matched',
      uid,
      operator: describe(operatorId),
    })),
    ...matches.uidsWithoutState.map((uid) => ({ result: 'not found', uid, operator: '' })),
    ...matches.operatorsWithoutUid.map((id) => ({ result: 'no uid given', uid: '', operator: describe(id) })),
  ];
  yield `\n${renderTitle('Uids', view)}`;
  yield renderTable(
    [
      {
        heading: 'Result',
        cell: ({ result }) => result,
        paint: ({ result }) => (result.startsWith('matched') ? view.style.good : view.style.warning),
      },
      { heading: 'Uid', cell: ({ uid }) => uid },
      { heading: 'Operator', cell: ({ operator }) => operator, minimum: 32 },
    ],
    rows,
    view,
  );
}
