/** The end of a RocksDB table file, from which everything else is found. Origin: RocksDB `table/format.cc`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { readVarint } from './varint.js';

/** Where a block lies. Five bytes of trailer follow it: see {@link BLOCK_TRAILER_BYTES}. */
export interface BlockHandle {
  readonly offset: number;
  /** Bytes without the trailer. */
  readonly size: number;
}

/** Behind every block: the number of its compression, then its checksum. */
export const BLOCK_TRAILER_BYTES = 5;
/** The longest footer. */
export const FOOTER_BYTES = 53;
/** Every known form ends with eight bytes that say which it is. */
const MAGIC_BYTES = 8;

const BLOCK_BASED_MAGIC = 0x88e241b785f4cff7n;
const LEGACY_BLOCK_BASED_MAGIC = 0xdb4775248b80fb57n;
const OTHER_TABLES: ReadonlyMap<bigint, string> = new Map([
  [0x8242229663bf9564n, 'a plain table'],
  [0x4f3418eb7a8f13b8n, 'a plain table of an old form'],
  [0x926789d0c5f17873n, 'a cuckoo table'],
]);

/** The number of a checksum in the footer. Origin: RocksDB `ChecksumType`. */
export const BlockChecksum = { None: 0, Crc32c: 1, XxHash32: 2, XxHash64: 3, Xxh3: 4 } as const;
/** One of the numbers of {@link BlockChecksum}. */
export type BlockChecksum = (typeof BlockChecksum)[keyof typeof BlockChecksum];

/** What a footer says. */
export type SstFooter =
  | {
      readonly kind: 'block-based';
      readonly formatVersion: number;
      readonly checksum: BlockChecksum;
      readonly metaindex: BlockHandle;
      readonly index: BlockHandle;
      /** Bytes of the footer itself. */
      readonly size: number;
    }
  | {
      /** A table, but of a form that is not read here. */
      readonly kind: 'unsupported';
      readonly form: string;
    };

/**
 * Parses the footer.
 * @param tail the last {@link FOOTER_BYTES} bytes of the file, or the whole file if it is shorter
 * @param fileSize bytes of the file
 * @throws ByteFormatError if the file does not end as a table does
 */
export function parseFooter(tail: Uint8Array, fileSize: number): SstFooter {
  const start = fileSize - tail.length;
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length);
  if (tail.length < MAGIC_BYTES) throw new ByteFormatError(start, 'the footer of a table file', `${fileSize} bytes`);
  const magic = view.getBigUint64(tail.length - MAGIC_BYTES, true);
  const other = OTHER_TABLES.get(magic);
  if (other !== undefined) return { kind: 'unsupported', form: other };
  if (magic === LEGACY_BLOCK_BASED_MAGIC) return { kind: 'unsupported', form: 'a table of format version 0' };
  if (magic !== BLOCK_BASED_MAGIC) {
    throw new ByteFormatError(
      fileSize - MAGIC_BYTES,
      'the magic number of a table file',
      `0x${magic.toString(16).padStart(16, '0')}`,
    );
  }
  if (tail.length < FOOTER_BYTES) throw new ByteFormatError(start, 'the footer of a table file', `${fileSize} bytes`);
  const formatVersion = view.getUint32(tail.length - MAGIC_BYTES - 4, true);
  // Version 6 has another footer, and checksums that depend on the place of the block. No Flink writes it.
  if (formatVersion < 1 || formatVersion > 5) {
    return { kind: 'unsupported', form: `a table of format version ${formatVersion}` };
  }
  const checksum = tail[0] as number;
  if (!isBlockChecksum(checksum)) throw new ByteFormatError(start, 'a checksum type (0 to 4)', `${checksum}`);
  const handlesEnd = tail.length - MAGIC_BYTES - 4;
  const metaindex = readBlockHandle(tail, 1, handlesEnd, start, 'the handle of the metaindex block');
  const index = readBlockHandle(tail, metaindex.next, handlesEnd, start, 'the handle of the index block');
  for (const { handle } of [metaindex, index]) checkHandle(handle, start, start);
  const padding = tail.subarray(index.next, handlesEnd);
  const odd = padding.findIndex((byte) => byte !== 0);
  if (odd >= 0) throw new ByteFormatError(start + index.next + odd, 'padding of a footer', `${padding[odd]}`);
  return {
    kind: 'block-based',
    formatVersion,
    checksum,
    metaindex: metaindex.handle,
    index: index.handle,
    size: FOOTER_BYTES,
  };
}

function isBlockChecksum(type: number): type is BlockChecksum {
  return Object.values<number>(BlockChecksum).includes(type);
}

/**
 * Reads a handle at `at`.
 * @param offset of `bytes[0]` in the file, for errors
 * @throws ByteFormatError if there is none
 */
export function readBlockHandle(
  bytes: Uint8Array,
  at: number,
  end: number,
  offset: number,
  reading: string,
): { readonly handle: BlockHandle; readonly next: number } {
  const first = readVarint(bytes, at, end, offset, reading);
  const second = readVarint(bytes, first.next, end, offset, reading);
  return { handle: { offset: first.value, size: second.value }, next: second.next };
}

/**
 * @param limit where blocks end: the offset of the footer
 * @param at where the handle stands, for the error
 * @throws ByteFormatError if the block with its trailer does not lie before `limit`
 */
export function checkHandle(handle: BlockHandle, limit: number, at: number): void {
  if (handle.offset + handle.size + BLOCK_TRAILER_BYTES <= limit) return;
  throw new ByteFormatError(
    at,
    `the handle of a block before byte ${limit}`,
    `one of ${handle.size} bytes at ${handle.offset}`,
  );
}
