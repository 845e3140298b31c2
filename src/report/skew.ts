/** How unevenly the state of an operator lies on its subtasks. */
import type { InspectedOperator } from '../operations/inspect-result.js';

const WORTH_A_LOOK = 3;

/**
 * Size of the biggest subtask as a multiple of what the others have on average: `Infinity` if they have nothing, undefined
 * where there is nothing to compare. Finished subtasks do not count.
 */
export function skewOf(
  operator: Pick<
    InspectedOperator,
    'largestSubtask' | 'subtasks' | 'finishedSubtasks' | 'stateSize' | 'coordinatorStateSize'
  >,
): number | undefined {
  const { largestSubtask, subtasks, finishedSubtasks, stateSize, coordinatorStateSize } = operator;
  const running = subtasks - finishedSubtasks;
  const largest = Number(largestSubtask?.bytes ?? 0);
  if (running < 2 || largest <= 0) return undefined;
  const others = Number(stateSize) - Number(coordinatorStateSize) - largest;
  return others <= 0 ? Infinity : largest / (others / (running - 1));
}

/** True if the biggest subtask is several times as big as the others. */
export function isSkewed(skew: number | undefined): boolean {
  return skew !== undefined && skew >= WORTH_A_LOOK;
}

/** `1.3× the others`, or `has all of it`. */
export function describeSkew(factor: number): string {
  return factor === Infinity ? 'has all of it' : `${factor.toFixed(1)}× the others`;
}
