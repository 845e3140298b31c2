/** Whole numbers out of JSON. */
import type { StateValue } from './value-serializer.js';

const LONG_LIMIT = 1n << 63n;
/** Nineteen digits and a sign: what may be an `i64`. */
const INTEGER = /^-?\d{1,19}$/;

/** True for a number without a fraction. */
export function isInteger(value: StateValue): value is number {
  return Number.isInteger(value);
}

/** A 64-bit number given as a number, or as a string where a number is not exact; undefined if it is none. */
export function parseLong(value: StateValue): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || !INTEGER.test(value)) return undefined;
  const long = BigInt(value);
  return long >= -LONG_LIMIT && long < LONG_LIMIT ? long : undefined;
}
