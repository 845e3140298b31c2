import { IoError } from '../errors.js';
import type { Path } from './path.js';

/**
 * Refuses a range that does not lie within a source of `size` bytes, before anything is allocated for it.
 * @throws RangeError if it is no range at all (a mistake of the caller), IoError if it ends behind the source
 */
export function checkRange(start: number, end: number, size: number, path: Path): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new RangeError(`${start} to ${end} is no range of bytes`);
  }
  if (end > size) throw readError(path, start, end, `the file has ${size} bytes`);
}

/** @throws RangeError if `length` bytes do not fit into `target` at `offset` */
export function checkTarget(target: Uint8Array, offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0 || offset + length > target.byteLength) {
    throw new RangeError(`${length} bytes do not fit at ${offset} of ${target.byteLength}`);
  }
}

/** @throws RangeError if `length` bytes at `position` are not all among the first `written` */
export function checkPatch(position: number, length: number, written: number): void {
  if (!Number.isSafeInteger(position) || position < 0 || position + length > written) {
    throw new RangeError(`${position} to ${position + length} is not written yet`);
  }
}

/** The error of a read that cannot be done. */
export function readError(path: Path, start: number, end: number, reason: string): IoError {
  return new IoError(path.toString(), `read of bytes ${start} to ${end}`, { cause: new Error(reason) });
}
