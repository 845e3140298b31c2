/** Which of a list of uids have state in a metadata file, and which operators have none of them. */
import type { NamedOperator } from './find-operator.js';
import { uidResult } from './uid.js';

/** The `uids` of `ckpt inspect --uid`. */
export interface UidMatches {
  readonly matched: readonly { readonly uid: string; readonly operatorId: string }[];
  readonly uidsWithoutState: readonly string[];
  /** Ids of operators that none of the uids leads to. */
  readonly operatorsWithoutUid: readonly string[];
}

/**
 * Matches uids with operators by the id that Flink makes of each.
 * @throws UsageError for an empty uid
 */
export function matchUids(operators: readonly NamedOperator[], uids: readonly string[]): UidMatches {
  const ids = new Set(operators.map(({ operatorId }) => operatorId));
  const results = [...new Set(uids)].map(uidResult);
  const matched = results.filter(({ operatorId }) => ids.has(operatorId));
  const found = new Set(matched.map(({ operatorId }) => operatorId));
  return {
    matched,
    uidsWithoutState: results.filter(({ operatorId }) => !ids.has(operatorId)).map(({ uid }) => uid),
    operatorsWithoutUid: [...ids].filter((id) => !found.has(id)),
  };
}
