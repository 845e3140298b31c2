/** The compressions of RocksDB's blocks. All but snappy have the uncompressed size in front. */
import { inflateRawSync } from 'node:zlib';
import lz4 from 'lz4js';
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { readSnappyLength, uncompressSnappy } from '../compress/snappy-block.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import { readVarint } from './varint.js';
import { decompressZstd } from './zstd.js';

/** The numbers that stand for them in the trailer of a block. Origin: RocksDB `CompressionType`. */
export const BlockCompression = {
  None: 0,
  Snappy: 1,
  Zlib: 2,
  Bzip2: 3,
  Lz4: 4,
  Lz4Hc: 5,
  Xpress: 6,
  Zstd: 7,
  ZstdNotFinal: 0x40,
} as const;
/** One of the numbers of {@link BlockCompression}. */
export type BlockCompression = (typeof BlockCompression)[keyof typeof BlockCompression];

const KNOWN: ReadonlySet<number> = new Set(Object.values(BlockCompression));

/** True for a number of {@link BlockCompression}. */
export function isBlockCompression(type: number): type is BlockCompression {
  return KNOWN.has(type);
}

/** Options of {@link decompressBlock}. */
export interface DecompressOptions {
  /** Offset of the block in the file, for errors; default 0. */
  readonly offset?: number;
  /** A block that says it becomes larger is refused; default 256 MiB. */
  readonly maxBytes?: number;
  /** Of the table; default 5. Below 2 sizes are written in another way, or not at all. */
  readonly formatVersion?: number;
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
/** What LZ4 makes of one byte at most; a zstd frame has no such limit. */
const LZ4_MAX_EXPANSION = 255;
/** What zlib makes of one byte at most, generously. */
const ZLIB_MAX_EXPANSION = 1100;
/** The first form has the size of LZ4 blocks in eight bytes. */
const FIRST_LZ4_HEADER = 8;

/**
 * The contents of a block without its trailer. An uncompressed block is returned as it is.
 * @throws ByteFormatError if the bytes are no block of this compression, or become more than `maxBytes`;
 *   UnknownFormatError for a compression that is not read here
 */
export function decompressBlock(
  block: Uint8Array,
  compression: BlockCompression,
  options: DecompressOptions = {},
): Uint8Array {
  const { offset = 0, maxBytes = DEFAULT_MAX_BYTES, formatVersion = 5 } = options;
  switch (compression) {
    case BlockCompression.None:
      return block;
    case BlockCompression.Snappy:
      checkSize(readSnappyLength(block, 0, block.length, offset).length, maxBytes, offset);
      return uncompressSnappy(block, 0, block.length, offset);
    case BlockCompression.Zlib:
      return inflate(block, maxBytes, offset, formatVersion);
    case BlockCompression.Lz4:
    case BlockCompression.Lz4Hc:
      return withSize(readSize(block, offset, formatVersion), maxBytes, offset, {
        what: 'an LZ4 block',
        mayBecome: (data, size) => size <= data.length * LZ4_MAX_EXPANSION,
        fill: (data, target) => lz4.decompressBlock(data, target, 0, data.length, 0),
      });
    case BlockCompression.Zstd:
    case BlockCompression.ZstdNotFinal:
      return withSize(readSize(block, offset, 2), maxBytes, offset, {
        what: 'a zstd frame',
        // The library fills what there is of the target and does not tell how much that was.
        mayBecome: (data, size) => (zstdContentSize(data) ?? size) === size,
        fill: decompressZstd,
      });
    case BlockCompression.Bzip2:
      throw new UnknownFormatError(offset, 'a block compressed by bzip2');
    case BlockCompression.Xpress:
      throw new UnknownFormatError(offset, 'a block compressed by XPRESS');
  }
}

/** Deflated data without a header. */
function inflate(block: Uint8Array, maxBytes: number, offset: number, formatVersion: number): Uint8Array {
  const sized = formatVersion >= 2 ? readSize(block, offset, formatVersion) : undefined;
  const data = sized?.data ?? block;
  const most = sized?.size ?? Math.min(maxBytes, block.length * ZLIB_MAX_EXPANSION);
  checkSize(most, maxBytes, offset);
  const what = 'deflated data';
  let contents: Buffer;
  try {
    contents = inflateRawSync(data, { maxOutputLength: Math.max(1, most) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ByteFormatError(offset, what, `something else (${reason})`);
  }
  if (sized && contents.length !== sized.size) {
    throw new ByteFormatError(offset, `${what} of ${sized.size} bytes`, `${contents.length} bytes`);
  }
  return contents;
}

/** A compressed block, and the size in front of it. */
interface SizedBlock {
  readonly size: number;
  readonly data: Uint8Array;
}

function readSize(block: Uint8Array, offset: number, formatVersion: number): SizedBlock {
  if (formatVersion >= 2) {
    const { value: size, next } = readVarint(block, 0, block.length, offset, 'uncompressed size of a block');
    return { size, data: block.subarray(next) };
  }
  if (block.length < FIRST_LZ4_HEADER) {
    throw new ByteFormatError(offset, 'uncompressed size of a block', `${block.length} bytes`);
  }
  const size = new DataView(block.buffer, block.byteOffset).getUint32(0, true);
  return { size, data: block.subarray(FIRST_LZ4_HEADER) };
}

function checkSize(size: number, maxBytes: number, offset: number): void {
  if (size > maxBytes) {
    throw new ByteFormatError(offset, `a block of at most ${maxBytes} bytes`, `one that becomes ${size} bytes`);
  }
}

/** A compression that says beforehand how much it becomes. */
interface SizedCompression {
  readonly what: string;
  /** False if the data cannot become that much: nothing is allocated then. */
  mayBecome(data: Uint8Array, size: number): boolean;
  /** @returns how much of the target was filled */
  fill(data: Uint8Array, target: Uint8Array): number;
}

/** Fills a buffer of the size that the block says it has. */
function withSize(
  { size, data }: SizedBlock,
  maxBytes: number,
  offset: number,
  { what, mayBecome, fill }: SizedCompression,
): Uint8Array {
  checkSize(size, maxBytes, offset);
  if (!mayBecome(data, size)) throw new ByteFormatError(offset, `${what} of ${size} bytes`, 'something else');
  const target = new Uint8Array(size);
  let filled: number;
  try {
    filled = fill(data, target);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ByteFormatError(offset, what, `something else (${reason})`);
  }
  if (filled !== size) throw new ByteFormatError(offset, `${what} of ${size} bytes`, 'something else');
  return target;
}

/** The size of the contents that a zstd frame has in its header; undefined if it has none there, or is no frame. */
function zstdContentSize(frame: Uint8Array): number | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const descriptor = frame[4];
  if (descriptor === undefined) return undefined;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  const bytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  if (bytes === 0 || at + bytes > frame.length) return undefined;
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
