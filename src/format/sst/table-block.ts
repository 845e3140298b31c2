/** Blocks of a RocksDB table as they stand in the file: with the compression and the checksum behind them. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { bytesChecksum, type ChecksumRule, hex32 } from './block-checksum.js';
import { decompressBlock, isBlockCompression } from './block-compression.js';
import { BLOCK_TRAILER_BYTES, type BlockHandle } from './footer.js';

/** How the blocks of a table are written. */
export interface BlockRule extends ChecksumRule {
  readonly formatVersion: number;
}

/**
 * Compares a block with the checksum behind it.
 * @param start index of the block in `bytes`, which hold its trailer as well
 * @param handle where the block is from
 * @throws ByteFormatError if they differ
 */
export function checkBlock(bytes: Uint8Array, start: number, handle: BlockHandle, rule: ChecksumRule): void {
  const end = start + handle.size + 1;
  const expected = bytesChecksum(bytes, start, end, handle.offset, rule);
  if (expected === undefined) return;
  const stored =
    ((bytes[end] as number) |
      ((bytes[end + 1] as number) << 8) |
      ((bytes[end + 2] as number) << 16) |
      ((bytes[end + 3] as number) << 24)) >>>
    0;
  if (stored === expected) return;
  throw new ByteFormatError(
    handle.offset,
    `a block of ${handle.size} bytes with checksum ${hex32(stored)}`,
    `bytes of checksum ${hex32(expected)}`,
  );
}

/**
 * The contents of a block.
 * @param block the block with its trailer
 * @param offset of the block in the file, for errors
 * @param maxBytes a block that becomes larger is refused
 * @throws ByteFormatError if the compression is none that is known, or the bytes are no such block; UnknownFormatError for a
 *   compression that is not read here
 */
export function blockContents(block: Uint8Array, offset: number, rule: BlockRule, maxBytes?: number): Uint8Array {
  const size = block.length - BLOCK_TRAILER_BYTES;
  const compression = block[size];
  if (compression === undefined || !isBlockCompression(compression)) {
    throw new ByteFormatError(offset + size, 'a block compression (0 to 7, or 64)', `${compression}`);
  }
  const { formatVersion } = rule;
  return decompressBlock(block.subarray(0, size), compression, {
    offset,
    formatVersion,
    ...(maxBytes !== undefined && { maxBytes }),
  });
}
