/** Which operator of one checkpoint is which of another. */
import { type OperatorSizes, type OperatorSummary, operatorSizes } from '../size-summary.js';
import type { OperatorFacts, OperatorFactsVisitor } from './operator-facts.js';
import type { DiffedState, RenumberedBy } from './result.js';

/** All that is compared of an operator. */
export interface ComparedOperator {
  readonly summary: OperatorSummary;
  readonly facts: OperatorFacts;
  readonly sizes: OperatorSizes;
  /** By name. */
  readonly states: readonly DiffedState[];
}

/** Two operators that are one. */
export interface OperatorPair {
  readonly old: ComparedOperator;
  readonly new: ComparedOperator;
  readonly by: 'id' | RenumberedBy;
}

/** All pairs, and what has no partner. */
export interface Pairing {
  readonly pairs: readonly OperatorPair[];
  readonly removed: readonly ComparedOperator[];
  readonly added: readonly ComparedOperator[];
}

/** The operators that a pass has gathered. */
export function comparedOperators(visitor: OperatorFactsVisitor): ComparedOperator[] {
  return visitor.operators.map((summary, i) => {
    const facts = visitor.facts[i];
    if (!facts) throw new Error('an operator without facts');
    const key = ({ kind, name }: DiffedState): string => `${name} ${kind}`;
    const states = [...facts.states.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
    return { summary, facts, sizes: operatorSizes(summary), states };
  });
}

/**
 * Pairs operators by id; those that are left by uid, then by name, then by their state: the very same state, or else states of
 * the same names. A key that several have on one side pairs none of them.
 */
export function pairOperators(old: readonly ComparedOperator[], new_: readonly ComparedOperator[]): Pairing {
  const removed = new Set(old);
  const added = new Set(new_);
  const pairs: OperatorPair[] = [];
  const pairBy = (by: OperatorPair['by'], keyOf: (operator: ComparedOperator) => string | null): void => {
    const olds = uniqueBy(removed, keyOf);
    for (const [key, operator] of uniqueBy(added, keyOf)) {
      const partner = olds.get(key);
      if (!operator || !partner) continue;
      removed.delete(partner);
      added.delete(operator);
      pairs.push({ old: partner, new: operator, by });
    }
  };
  pairBy('id', ({ summary }) => summary.operatorId);
  pairBy('uid', ({ summary }) => summary.uid);
  pairBy('name', ({ summary }) => summary.name);
  pairBy('states', ({ facts }) => (facts.digest.parts > 0 ? facts.digest.toString() : null));
  pairBy('states', ({ states }) => (states.length > 0 ? JSON.stringify(states) : null));
  return { pairs, removed: [...removed], added: [...added] };
}

/** The operators by key; undefined for a key that several have. */
function uniqueBy(
  operators: Iterable<ComparedOperator>,
  keyOf: (operator: ComparedOperator) => string | null,
): Map<string, ComparedOperator | undefined> {
  const unique = new Map<string, ComparedOperator | undefined>();
  for (const operator of operators) {
    const key = keyOf(operator);
    if (key !== null) unique.set(key, unique.has(key) ? undefined : operator);
  }
  return unique;
}
