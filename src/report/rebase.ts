import type { RebaseResult } from '../operations/rebase.js';
import { formatCount, plural } from './format.js';
import { renderFields, renderTable } from './table.js';
import type { Renderer } from './view.js';

/** What was changed. */
export const renderRebased: Renderer<RebaseResult> = function* (result, view) {
  const { style } = view;
  yield renderFields(
    [
      ['Source', result.source],
      [
        'Written',
        result.written ? result.target : `nothing: ${whyNothing(result)}`,
        result.written ? style.name : result.unmatchedPaths > 0 ? style.bad : style.warning,
      ],
      ['Paths changed', formatCount(result.rewrittenHandles)],
      [
        'Unchanged',
        result.unmatchedPaths > 0 ? `${plural(result.unmatchedPaths, 'absolute path')} that no prefix fits` : undefined,
        style.warning,
      ],
      [
        'Relative',
        result.relativeHandles > 0
          ? `${plural(result.relativeHandles, 'handle')} relative to the directory: nothing to change`
          : undefined,
      ],
      [
        'Verified',
        result.verified === null ? undefined : result.verified ? 'yes' : 'no',
        result.verified ? style.good : style.bad,
      ],
    ],
    view,
  );
  yield '\n';
  yield renderTable(
    [
      { heading: 'Changed', cell: ({ handles }) => formatCount(handles), align: 'right' },
      { heading: 'Old prefix', cell: (change) => change.old, minimum: 20 },
      { heading: 'New prefix', cell: (change) => change.new, minimum: 20 },
    ],
    result.prefixes,
    view,
  );
};

function whyNothing({ unmatchedPaths }: RebaseResult): string {
  return unmatchedPaths > 0 ? 'no path begins with a given prefix' : 'there is no absolute path in it';
}
