/** Raw snappy blocks: a length, then literals and copies. Inside snappy frames, and by themselves in RocksDB tables. */
import { snappyUncompressor } from 'hysnappy';
import { ByteFormatError } from '../../bytes/byte-format-error.js';

/** A copy makes 64 bytes of 2; nothing makes more. */
const MAX_EXPANSION = 32;

let uncompress: ReturnType<typeof snappyUncompressor> | undefined;

/** The length that a block says it has when uncompressed. */
export interface SnappyLength {
  readonly length: number;
  /** Bytes that the length itself takes. */
  readonly headerBytes: number;
}

/**
 * Reads the length at the start of the block [start, end).
 * @param offset of `bytes[start]` in the input, for errors
 * @throws ByteFormatError if it is none, or one that a block of this size cannot have
 */
export function readSnappyLength(bytes: Uint8Array, start: number, end: number, offset: number): SnappyLength {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    if (start + i >= end) break;
    const byte = bytes[start + i] as number;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) {
      if (length > (end - start) * MAX_EXPANSION) {
        throw new ByteFormatError(
          offset,
          'the length of a snappy block',
          `${length}, which no block of ${end - start} bytes has`,
        );
      }
      return { length, headerBytes: i + 1 };
    }
  }
  throw new ByteFormatError(offset, 'the length of a snappy block', 'a number without an end');
}

/**
 * The contents of the block [start, end).
 * @param offset of `bytes[start]` in the input, for errors
 * @throws ByteFormatError if it is no snappy block
 */
export function uncompressSnappy(bytes: Uint8Array, start: number, end: number, offset: number): Uint8Array {
  const { length } = readSnappyLength(bytes, start, end, offset);
  uncompress ??= snappyUncompressor();
  try {
    return uncompress(bytes.subarray(start, end), length);
  } catch (error) {
    // After a trap of its machine code the instance is not trusted any more.
    uncompress = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ByteFormatError(offset, 'a snappy block', `something else (${reason})`);
  }
}
