/** Blocks of a RocksDB table: their trailers, and the sorted entries in those that hold some. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { crc32c, maskCrc32c } from '../hash/crc32c.js';
import { xxh3 } from '../hash/xxh3.js';
import { xxh64 } from '../hash/xxh64.js';
import { decompressBlock, isBlockCompression } from './block-compression.js';
import { BLOCK_TRAILER_BYTES, BlockChecksum, type BlockHandle, readBlockHandle } from './footer.js';
import { readVarint } from './varint.js';

/** How the last byte is laid over an XXH3 of those before it, so that the compression type need not follow the data. */
const LAST_BYTE_FACTOR = 0x6b9083d9;

/**
 * The checksum that a block should have in its trailer: of the block [start, end), its compression type included.
 * Undefined for {@link BlockChecksum.None} and for XXH32, which no Flink uses.
 */
export function blockChecksum(bytes: Uint8Array, start: number, end: number, type: BlockChecksum): number | undefined {
  switch (type) {
    case BlockChecksum.None:
    case BlockChecksum.XxHash32:
      return undefined;
    case BlockChecksum.Crc32c:
      return maskCrc32c(crc32c(bytes, start, end));
    case BlockChecksum.XxHash64:
      return low32(xxh64(bytes, start, end));
    case BlockChecksum.Xxh3:
      return (low32(xxh3(bytes, start, end - 1)) ^ Math.imul(bytes[end - 1] as number, LAST_BYTE_FACTOR)) >>> 0;
  }
}

function low32(hash: bigint): number {
  return Number(hash & 0xffffffffn);
}

/**
 * Compares a block with the checksum behind it.
 * @param start index of the block in `bytes`, which hold its trailer as well
 * @param handle where the block is from, for errors
 * @throws ByteFormatError if they differ
 */
export function checkBlock(bytes: Uint8Array, start: number, handle: BlockHandle, type: BlockChecksum): void {
  const end = start + handle.size + 1;
  const expected = blockChecksum(bytes, start, end, type);
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
    `a block of ${handle.size} bytes with checksum ${hex(stored)}`,
    `bytes of checksum ${hex(expected)}`,
  );
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}

/**
 * The contents of a block.
 * @param block the block with its trailer
 * @param offset of the block in the file, for errors
 * @throws ByteFormatError if the compression is none that is known, or the bytes are no such block
 */
export function blockContents(block: Uint8Array, offset: number): Uint8Array {
  const size = block.length - BLOCK_TRAILER_BYTES;
  const compression = block[size];
  if (compression === undefined || !isBlockCompression(compression)) {
    throw new ByteFormatError(offset + size, 'a block compression (0, 1, 4, 5 or 7)', `${compression}`);
  }
  return decompressBlock(block.subarray(0, size), compression, { offset });
}

/** How the values of an index block are written. */
export interface IndexEncoding {
  /** Handles are stored as the difference in size to the one before, where the keys share bytes. */
  readonly valuesAreDeltas: boolean;
  /** The first key of the block follows the handle. */
  readonly hasFirstKey: boolean;
}

/**
 * Goes through the entries of a block whose contents are in memory: `while (cursor.next()) …`. Keys are prefix-compressed,
 * so they are put together in a buffer that the next step overwrites.
 */
export class BlockCursor {
  /** The key of the entry, valid until the next step. */
  get key(): Uint8Array {
    return this.keyBuffer.subarray(0, this.keyLength);
  }
  /** The value of the entry, a view of the contents. Not for index blocks. */
  get value(): Uint8Array {
    return this.contents.subarray(this.valueStart, this.position);
  }
  /** Where the entry starts in the contents. */
  entryStart = 0;
  protected position = 0;
  /** Bytes of the key taken over from the entry before. */
  protected shared = 0;
  protected readonly limit: number;
  private keyBuffer = new Uint8Array(64);
  private keyLength = 0;
  private valueStart = 0;

  /**
   * @param offset of the block in the file, for errors
   * @throws ByteFormatError if the restart points at the end do not fit the contents
   */
  constructor(
    protected readonly contents: Uint8Array,
    protected readonly offset: number,
  ) {
    const { length } = contents;
    if (length < 4) throw new ByteFormatError(offset, 'the restart points of a block', `${length} bytes`);
    const view = new DataView(contents.buffer, contents.byteOffset, length);
    // The top bit says that a hash table stands before the restart points; nobody writes it by default, its size varies.
    const restarts = view.getUint32(length - 4, true);
    const end = length - 4 - restarts * 4;
    if (end < 0) throw new ByteFormatError(offset + length - 4, 'the number of restart points', `${restarts}`);
    this.limit = end;
  }

  /** Goes to the next entry. @returns false behind the last one @throws ByteFormatError if it is none */
  next(): boolean {
    if (this.position >= this.limit) return false;
    const lengths = this.readKeyLengths();
    const value = this.varint(lengths.next, 'length of a value');
    this.takeKey(value.next, lengths.unshared);
    this.valueStart = this.position;
    this.position += value.value;
    if (this.position > this.limit) this.fail(`a value of ${value.value} bytes`, 'the end of the block');
    return true;
  }

  protected readKeyLengths(): { readonly unshared: number; readonly next: number } {
    this.entryStart = this.position;
    const shared = this.varint(this.position, 'shared bytes of a key');
    const unshared = this.varint(shared.next, 'further bytes of a key');
    if (shared.value > this.keyLength)
      this.fail(`a key that shares at most ${this.keyLength} bytes`, `${shared.value}`);
    this.shared = shared.value;
    return { unshared: unshared.value, next: unshared.next };
  }

  protected takeKey(at: number, unshared: number): void {
    if (at + unshared > this.limit) this.fail(`a key with ${unshared} further bytes`, 'the end of the block');
    const length = this.shared + unshared;
    if (length > this.keyBuffer.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(this.keyBuffer.subarray(0, this.shared));
      this.keyBuffer = larger;
    }
    this.keyBuffer.set(this.contents.subarray(at, at + unshared), this.shared);
    this.keyLength = length;
    this.position = at + unshared;
  }

  protected varint(at: number, reading: string): { readonly value: number; readonly next: number } {
    return readVarint(this.contents, at, this.limit, this.offset, reading);
  }

  protected fail(reading: string, found: string): never {
    throw new ByteFormatError(this.offset + this.entryStart, reading, found);
  }
}

/** Goes through an index block: each entry is a key not before the last one of a block, and the block's handle. */
export class IndexCursor extends BlockCursor {
  /** The handle of the entry. */
  handle: BlockHandle = { offset: 0, size: 0 };

  constructor(
    contents: Uint8Array,
    offset: number,
    private readonly encoding: IndexEncoding,
  ) {
    super(contents, offset);
  }

  override next(): boolean {
    if (!this.encoding.valuesAreDeltas) {
      if (!super.next()) return false;
      this.handle = readBlockHandle(this.value, 0, this.value.length, this.offset, 'the handle of a block').handle;
      return true;
    }
    if (this.position >= this.limit) return false;
    const lengths = this.readKeyLengths();
    this.takeKey(lengths.next, lengths.unshared);
    this.readHandle();
    if (this.encoding.hasFirstKey) this.skipFirstKey();
    return true;
  }

  private readHandle(): void {
    if (this.shared === 0) {
      const { handle, next } = readBlockHandle(
        this.contents,
        this.position,
        this.limit,
        this.offset,
        'the handle of a block',
      );
      this.handle = handle;
      this.position = next;
      return;
    }
    const difference = this.varint(this.position, 'size of a block');
    const signed = difference.value % 2 === 0 ? difference.value / 2 : -(difference.value + 1) / 2;
    const { offset, size } = this.handle;
    if (size + signed < 0) this.fail('size of a block', `${size + signed}`);
    this.handle = { offset: offset + size + BLOCK_TRAILER_BYTES, size: size + signed };
    this.position = difference.next;
  }

  private skipFirstKey(): void {
    const length = this.varint(this.position, 'length of the first key of a block');
    this.position = length.next + length.value;
    if (this.position > this.limit) this.fail('the first key of a block', 'the end of the index block');
  }
}
