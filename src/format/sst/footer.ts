/** The end of a RocksDB table file, from which everything else is found. Origin: RocksDB `table/format.cc`. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { BlockChecksum, bytesChecksum, type ChecksumRule, hex32, isBlockChecksum } from './block-checksum.js';
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
/** The footer of the first version. */
const FIRST_FOOTER_BYTES = 48;
/** Every known form ends with eight bytes that say which it is. */
const MAGIC_BYTES = 8;

const BLOCK_BASED_MAGIC = 0x88e241b785f4cff7n;
const LEGACY_BLOCK_BASED_MAGIC = 0xdb4775248b80fb57n;
const EXTENDED_MAGIC = 0x007a003e;
const OTHER_TABLES: ReadonlyMap<bigint, string> = new Map([
  [0x8242229663bf9564n, 'a plain table'],
  [0x4f3418eb7a8f13b8n, 'a plain table of an old form'],
  [0x926789d0c5f17873n, 'a cuckoo table'],
]);

/** What the footer of a table of the usual form says. */
export interface BlockBasedFooter extends ChecksumRule {
  readonly kind: 'block-based';
  readonly formatVersion: number;
  readonly metaindex: BlockHandle;
  /** Undefined from version 6 on: the metaindex has it. */
  readonly index: BlockHandle | undefined;
  /** Bytes of the footer itself. */
  readonly size: number;
}

/** What a footer says. */
export type SstFooter =
  | BlockBasedFooter
  | {
      /** A table, but of a form that is not read here. */
      readonly kind: 'unsupported';
      readonly form: string;
    };

/** The last bytes of a file, and where they are. */
interface Tail {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Offset of the first of them in the file. */
  readonly start: number;
}

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
  if (magic === LEGACY_BLOCK_BASED_MAGIC) return parseFirstVersion(tail, fileSize);
  if (magic !== BLOCK_BASED_MAGIC) {
    throw new ByteFormatError(
      fileSize - MAGIC_BYTES,
      'the magic number of a table file',
      `0x${magic.toString(16).padStart(16, '0')}`,
    );
  }
  if (tail.length < FOOTER_BYTES) throw new ByteFormatError(start, 'the footer of a table file', `${fileSize} bytes`);
  const formatVersion = view.getUint32(tail.length - MAGIC_BYTES - 4, true);
  if (formatVersion < 1 || formatVersion > 6) {
    return { kind: 'unsupported', form: `a table of format version ${formatVersion}` };
  }
  const checksum = tail[0] as number;
  if (!isBlockChecksum(checksum)) throw new ByteFormatError(start, 'a checksum type (0 to 4)', `${checksum}`);
  if (formatVersion === 6) return parseVersion6({ bytes: tail, view, start }, checksum);
  const handles = parseHandles(tail, 1, tail.length - MAGIC_BYTES - 4, start);
  return { kind: 'block-based', formatVersion, checksum, contextChecksum: 0, ...handles, size: FOOTER_BYTES };
}

/** The form without a checksum type and a version. */
function parseFirstVersion(tail: Uint8Array, fileSize: number): BlockBasedFooter {
  const bytes = tail.subarray(Math.max(0, tail.length - FIRST_FOOTER_BYTES));
  const start = fileSize - bytes.length;
  if (bytes.length < FIRST_FOOTER_BYTES) {
    throw new ByteFormatError(start, 'the footer of a table file', `${fileSize} bytes`);
  }
  const handles = parseHandles(bytes, 0, bytes.length - MAGIC_BYTES, start);
  const { Crc32c: checksum } = BlockChecksum;
  return { kind: 'block-based', formatVersion: 0, checksum, contextChecksum: 0, ...handles, size: FIRST_FOOTER_BYTES };
}

/** The two handles in [from, end) of a footer, and nothing but zeros behind them. */
function parseHandles(
  bytes: Uint8Array,
  from: number,
  end: number,
  start: number,
): { readonly metaindex: BlockHandle; readonly index: BlockHandle } {
  const metaindex = readBlockHandle(bytes, from, end, start, 'the handle of the metaindex block');
  const index = readBlockHandle(bytes, metaindex.next, end, start, 'the handle of the index block');
  for (const { handle } of [metaindex, index]) checkHandle(handle, start, start);
  checkPadding(bytes, index.next, end, start);
  return { metaindex: metaindex.handle, index: index.handle };
}

/** The form in which the metaindex stands right before the footer, and the footer has a checksum of its own. */
function parseVersion6({ bytes, view, start }: Tail, checksum: BlockChecksum): BlockBasedFooter {
  const extended = view.getUint32(1, true);
  if (extended !== EXTENDED_MAGIC) {
    throw new ByteFormatError(start + 1, 'the second magic number of a footer', `0x${extended.toString(16)}`);
  }
  const stored = view.getUint32(5, true);
  const contextChecksum = view.getUint32(9, true);
  const size = view.getUint32(13, true);
  checkPadding(bytes, 17, bytes.length - MAGIC_BYTES - 4, start);
  const blank = Uint8Array.from(bytes);
  blank.fill(0, 5, 9);
  const expected = bytesChecksum(blank, 0, blank.length, start, { checksum, contextChecksum });
  if (expected !== undefined && expected !== stored) {
    throw new ByteFormatError(start, `a footer with checksum ${hex32(stored)}`, `bytes of checksum ${hex32(expected)}`);
  }
  const metaindex = { offset: start - BLOCK_TRAILER_BYTES - size, size };
  if (metaindex.offset < 0) throw new ByteFormatError(start + 13, 'the size of the metaindex block', `${size}`);
  const { length } = bytes;
  return {
    kind: 'block-based',
    formatVersion: 6,
    checksum,
    contextChecksum,
    metaindex,
    index: undefined,
    size: length,
  };
}

function checkPadding(bytes: Uint8Array, from: number, end: number, start: number): void {
  const odd = bytes.subarray(from, end).findIndex((byte) => byte !== 0);
  if (odd >= 0) throw new ByteFormatError(start + from + odd, 'padding of a footer', `${bytes[from + odd]}`);
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
