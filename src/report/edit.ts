import type { EditedOperator, EditResult } from '../operations/edit.js';
import { formatCount } from './format.js';
import { renderFields, renderTable } from './table.js';
import type { Renderer } from './view.js';

/** What was changed. */
export const renderEdited: Renderer<EditResult> = function* (result, view) {
  yield renderFields(
    [
      ['Source', result.source],
      ['Written', result.target, view.style.name],
      ['Files', formatCount(result.files)],
      [
        'Verified',
        result.verified === null ? undefined : result.verified ? 'yes' : 'no',
        result.verified ? view.style.good : view.style.bad,
      ],
    ],
    view,
  );
  yield '\n';
  yield renderTable(
    [
      {
        heading: 'Operator',
        cell: ({ name, uid, operatorId }) => name ?? uid ?? operatorId,
        paint: () => view.style.name,
      },
      { heading: 'Id', cell: ({ operatorId }) => operatorId },
      {
        heading: 'Change',
        cell: changeText,
        minimum: 24,
        paint: ({ dropped }) => (dropped ? view.style.warning : view.style.good),
      },
    ],
    result.operators,
    view,
  );
};

function changeText(operator: EditedOperator): string {
  if (operator.dropped) return 'dropped';
  const changes: string[] = [];
  if (operator.newUid !== operator.uid) changes.push(`uid ${operator.newUid}`);
  if (operator.newOperatorId !== operator.operatorId) changes.push(`id ${operator.newOperatorId}`);
  if (operator.newMaxParallelism !== operator.maxParallelism) {
    changes.push(`max parallelism ${operator.maxParallelism} → ${operator.newMaxParallelism}`);
  }
  return changes.join(', ');
}
