import { UsageError } from '../errors.js';
import { operatorIdOfUid } from '../format/hash/operator-id.js';

/** A uid with the id that Flink gives the operator. */
export interface UidResult {
  readonly uid: string;
  /** 32 lower-case hex digits. */
  readonly operatorId: string;
}

/**
 * The operator id of a uid.
 * @throws UsageError for the empty uid, which Flink takes for none
 * @example uidResult('my-uid') // { uid: 'my-uid', operatorId: '8409efe6adc6d20787611f16017c808f' }
 */
export function uidResult(uid: string): UidResult {
  if (uid === '') throw new UsageError('a uid must not be empty');
  return { uid, operatorId: operatorIdOfUid(uid) };
}
