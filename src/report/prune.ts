/** What `ckpt prune` shows before the plan: what goes and what stays of each job. */
import type { PruneGroup } from '../operations/prune.js';
import { formatCount } from './format.js';
import { renderTable } from './table.js';
import { renderTitle } from './title.js';
import type { Renderer } from './view.js';

/** What was chosen. */
export interface PruneChoice {
  readonly groups: readonly PruneGroup[];
  /** What was looked at. */
  readonly what: 'checkpoints' | 'savepoints';
}

/** A line for each job. */
export const renderChoice: Renderer<PruneChoice> = function* ({ groups, what }, view) {
  if (groups.length === 0) {
    yield `No complete ${what}, nothing to discard.\n`;
    return;
  }
  const nothing = groups.every(({ discard, unfinished }) => discard.length + unfinished.length === 0);
  yield renderTitle(nothing ? 'Nothing to discard' : `Of the ${what}`, view);
  yield renderTable(
    [
      { heading: 'Go', cell: ({ discard }) => formatCount(discard.length), align: 'right' },
      { heading: 'Stay', cell: ({ retained }) => formatCount(retained.length), align: 'right' },
      {
        heading: 'To finish',
        cell: ({ unfinished }) => (unfinished.length === 0 ? '' : formatCount(unfinished.length)),
        align: 'right',
        optional: true,
      },
      { heading: 'Newest that stays', cell: newestThatStays, minimum: 17, paint: () => view.style.good },
      { heading: 'Directory', cell: ({ directory }) => directory, minimum: 48, priority: 1 },
    ],
    groups,
    view,
  );
  yield '\n';
};

function newestThatStays({ retained }: PruneGroup): string {
  const pointer = retained.at(-1)?.pointer ?? 'none';
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}
