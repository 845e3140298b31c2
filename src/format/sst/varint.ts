/** Numbers of seven bits a byte, the low ones first, as RocksDB writes them. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';

/** A number and where it ends. */
export interface Varint {
  readonly value: number;
  /** Index of the byte behind it. */
  readonly next: number;
}

/**
 * Reads a number at `at`, which ends before `end`.
 * @param offset of `bytes[0]` in the input, for errors
 * @throws ByteFormatError if it does not end, is larger than 2^53 - 1, or longer than it need be: nobody writes it so
 */
export function readVarint(bytes: Uint8Array, at: number, end: number, offset: number, reading: string): Varint {
  let value = 0;
  let scale = 1;
  for (let next = at; next < end; ) {
    const byte = bytes[next++] as number;
    value += (byte & 0x7f) * scale;
    if (!Number.isSafeInteger(value)) break;
    if (byte < 0x80) {
      if (byte === 0 && scale > 1) break;
      return { value, next };
    }
    scale *= 128;
  }
  throw new ByteFormatError(
    offset + at,
    reading,
    at >= end ? 'the end of the block' : 'no number of seven bits a byte',
  );
}
