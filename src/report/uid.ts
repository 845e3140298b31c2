import type { UidResult } from '../operations/uid.js';
import { printable } from './printable.js';

/** A line for each uid, as checksum tools print them: the id, two blanks, the uid. */
export function* renderUids(results: readonly UidResult[]): Generator<string, void, undefined> {
  for (const { uid, operatorId } of results) yield `${operatorId}  ${printable(uid)}\n`;
}
