import type { CopyResult } from '../operations/copy/copy.js';
import type { StateReferenceReport } from '../operations/copy/state-references.js';
import { formatBytes, formatCount, formatExactBytes, plural } from './format.js';
import { renderFields, renderTable } from './table.js';
import type { Renderer, View } from './view.js';

/** The document of `ckpt copy --dry-run`. */
export interface CopyPlanDocument extends StateReferenceReport {
  readonly source: string;
  readonly target: string;
  readonly copy: readonly {
    readonly path: string;
    readonly target: string;
    readonly start: number;
    /** Null where only the file itself tells. */
    readonly bytes: number | null;
  }[];
}

const SHOWN_REFERENCES = 10;

/** What was copied. */
export const renderCopied: Renderer<CopyResult> = function* (result, view) {
  const there = result.alreadyThere > 0 ? `, ${formatCount(result.alreadyThere)} of them already there` : '';
  yield renderFields(
    [
      ['Copied', result.source],
      ['To', result.target, view.style.name],
      ['Files', `${formatCount(result.files)} (${formatExactBytes(result.bytes)})${there}`],
      ['Paths changed', formatCount(result.rewrittenHandles)],
      [
        'Verified',
        result.verified === null ? undefined : result.verified ? 'yes' : 'no',
        result.verified ? view.style.good : view.style.bad,
      ],
    ],
    view,
  );
  yield* references(result, view);
};

/** What would be copied. */
export const renderCopyPlan: Renderer<CopyPlanDocument> = function* (plan, view) {
  yield renderTable(
    [
      { heading: 'Bytes', cell: ({ bytes }) => (bytes === null ? 'all' : formatBytes(bytes)), align: 'right' },
      { heading: 'File', cell: ({ path, start }) => (start > 0 ? `${path} from byte ${start} on` : path), minimum: 30 },
      { heading: 'Becomes', cell: ({ target }) => target.slice(target.lastIndexOf('/') + 1), minimum: 20 },
    ],
    plan.copy,
    view,
  );
  const total = plan.copy.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  yield `${plural(plan.copy.length, 'file')} (${formatBytes(total)}) and the metadata would be copied to ${plan.target}\n`;
  yield* references(plan, view);
};

/** What lies in operator state that no copy takes along or changes. */
function* references({ stateReferences: found, unsearchedState }: StateReferenceReport, view: View): Generator<string> {
  const { style, verbose } = view;
  if (found.length > 0) {
    yield `\n${style.warning(`${plural(found.length, 'path')} inside operator state, which no copy takes along or changes:`)}\n`;
    yield renderTable(
      [
        { heading: 'Operator', cell: ({ operatorId }) => operatorId },
        {
          heading: 'Subtask',
          cell: ({ subtask }) => (subtask === null ? 'coordinator' : `#${subtask}`),
          align: 'right',
        },
        { heading: 'Path', cell: ({ path }) => path, minimum: 30 },
      ],
      verbose ? found : found.slice(0, SHOWN_REFERENCES),
      view,
    );
    const hidden = found.length - SHOWN_REFERENCES;
    if (hidden > 0 && !verbose) yield `${style.muted(`and ${plural(hidden, 'path')} more; --verbose lists all`)}\n`;
  }
  for (const reason of unsearchedState) yield `${style.warning(`not searched for paths: ${reason}`)}\n`;
}
