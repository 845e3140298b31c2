/**
 * How format code that must jump about in a file stays free of I/O: a generator that asks for ranges and is given their
 * bytes. Whoever drives it reads them, from whatever the file is in.
 */

/** The bytes [start, end) that are wanted next; never outside the file. */
export interface ByteRequest {
  readonly start: number;
  readonly end: number;
  /** What will be asked for after this, if that is known and large: worth reading ahead. */
  readonly ahead?: ByteRange | undefined;
}

/** Bytes [start, end) of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A pass over a file that ends with a result. The bytes it is given must be exactly those it asked for. */
export type RangedPass<T> = Generator<ByteRequest, T, Uint8Array>;

/** Drives a pass over bytes that are all in memory. */
export function runPass<T>(pass: RangedPass<T>, bytes: Uint8Array): T {
  let step = pass.next();
  while (!step.done) step = pass.next(bytes.subarray(step.value.start, step.value.end));
  return step.value;
}
