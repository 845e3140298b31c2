/** Finds the operator that a user means. */
import { OperatorNotFoundError } from '../errors.js';
import { operatorIdOfUid } from '../format/hash/operator-id.js';
import { nearestNames } from './near-names.js';

/** What an operator can be found by. */
export interface NamedOperator {
  readonly operatorId: string;
  readonly uid: string | null;
  readonly name: string | null;
}

const SHOWN = 8;
const HEX = /^[0-9a-f]+$/;

/** One line that tells an operator from others. */
export function describeOperator(operator: NamedOperator): string {
  const { operatorId, uid, name } = operator;
  const names = [name, uid === null ? null : `uid ${uid}`].filter((part) => part !== null);
  return names.length > 0 ? `${operatorId} (${names.join(', ')})` : operatorId;
}

/**
 * The index of the operator with this id, uid, name, or beginning of an id; the first kind that fits counts. Where no uid is
 * stored, the id that Flink makes of the uid finds the operator all the same.
 * @throws OperatorNotFoundError if none fits, or several do
 */
export function findOperator(operators: readonly NamedOperator[], wanted: string): number {
  const id = wanted.toLowerCase();
  const idOfUid = operatorIdOfUid(wanted);
  const kinds: readonly ((operator: NamedOperator) => boolean)[] = [
    ({ operatorId }) => operatorId === id,
    ({ uid }) => uid === wanted,
    ({ operatorId, uid }) => uid === null && operatorId === idOfUid,
    ({ name }) => name === wanted,
    ({ operatorId }) => HEX.test(id) && operatorId.startsWith(id),
  ];
  for (const fits of kinds) {
    const found = operators.flatMap((operator, index) => (fits(operator) ? [index] : []));
    if (found.length === 1) return found[0] ?? 0;
    if (found.length > 1) throw severalFit(operators, found, wanted);
  }
  throw noneFits(operators, wanted);
}

function severalFit(
  operators: readonly NamedOperator[],
  found: readonly number[],
  wanted: string,
): OperatorNotFoundError {
  const all = found.flatMap((index) => operators[index] ?? []);
  const ids = new Set(all.map(({ operatorId }) => operatorId));
  const shown = all.slice(0, SHOWN).map(describeOperator);
  const more = all.length > SHOWN ? `, and ${all.length - SHOWN} more` : '';
  const reason =
    ids.size === 1
      ? `${all.length} entries of the metadata have this id`
      : `${all.length} operators fit: ${shown.join(', ')}${more}`;
  return new OperatorNotFoundError(wanted, reason, [...ids]);
}

function noneFits(operators: readonly NamedOperator[], wanted: string): OperatorNotFoundError {
  const byText = new Map<string, NamedOperator>();
  for (const operator of operators) {
    for (const text of [operator.operatorId, operator.uid, operator.name])
      if (text !== null) byText.set(text, operator);
  }
  const near = [...new Set(nearestNames(wanted, [...byText.keys()]).flatMap((text) => byText.get(text) ?? []))];
  const named = operators.some(({ uid, name }) => uid !== null || name !== null);
  const why = named
    ? 'not in this metadata'
    : 'neither an id in this metadata nor the uid of one (names are stored from Flink 2.0 on)';
  const hint = near.length > 0 ? `; did you mean ${near.map(describeOperator).join(', ')}?` : listed(operators);
  return new OperatorNotFoundError(
    wanted,
    why + hint,
    near.map(({ operatorId }) => operatorId),
  );
}

/** All of them, if they are few. */
function listed(operators: readonly NamedOperator[]): string {
  if (operators.length === 0) return '; it has no operators';
  return operators.length > SHOWN ? '' : `; it has ${operators.map(describeOperator).join(', ')}`;
}
