/** Blocks of a RocksDB table: the sorted entries in those that hold some. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { readVarint } from './varint.js';

/** The largest block that can have a hash table of its keys. */
const LARGEST_WITH_HASH_TABLE = 64 * 1024;
/** A length of two bytes is below this. */
const TWO_BYTE_LIMIT = 0x80;
/** Up to this many bytes a loop is quicker than a call. */
const COPIED_ONE_BY_ONE = 32;
const EMPTY = new Uint8Array(0);

/**
 * Goes through the entries of a block whose contents are in memory: `while (cursor.next()) …`. Keys are prefix-compressed,
 * so they are put together in a buffer that the next step overwrites.
 */
export class BlockCursor {
  /** Holds the key of the entry in its first {@link BlockCursor.keyLength} bytes, until the next step. */
  keyBuffer = new Uint8Array(64);
  keyLength = 0;
  /** The value of the entry: [valueStart, valueEnd) of the contents. Not for index blocks. */
  valueStart = 0;
  valueEnd = 0;
  /** Where the entry starts in the contents. */
  entryStart = 0;
  contents: Uint8Array = EMPTY;
  /** Where the contents come from in the file, for errors. */
  offset = 0;
  protected position = 0;
  /** Bytes of the key taken over from the entry before. */
  protected shared = 0;
  /** Where the entries end, and the restart points begin. */
  protected limit = 0;
  private restarts = 0;

  /**
   * @param offset of the block in the file, for errors
   * @throws ByteFormatError if the restart points at the end do not fit the contents
   */
  constructor(contents?: Uint8Array, offset = 0) {
    if (contents !== undefined) this.open(contents, offset);
  }

  /** The key of the entry, valid until the next step. */
  get key(): Uint8Array {
    return this.keyBuffer.subarray(0, this.keyLength);
  }

  /** The value of the entry, a view of the contents. Not for index blocks. */
  get value(): Uint8Array {
    return this.contents.subarray(this.valueStart, this.valueEnd);
  }

  /** Goes before the first entry of a block. @throws ByteFormatError as the constructor */
  open(contents: Uint8Array, offset: number): void {
    const { length } = contents;
    if (length < 4) throw new ByteFormatError(offset, 'the restart points of a block', `${length} bytes`);
    const view = new DataView(contents.buffer, contents.byteOffset, length);
    const footer = view.getUint32(length - 4, true);
    // The top bit says that a hash table of the keys stands behind the restart points. It is not needed to find them.
    const hasHashTable = length <= LARGEST_WITH_HASH_TABLE && footer >= 0x80000000;
    const restarts = hasHashTable ? footer - 0x80000000 : footer;
    let end = length - 4;
    if (hasHashTable) end -= length >= 6 ? 2 + view.getUint16(length - 6, true) : 2;
    end -= restarts * 4;
    if (end < 0) throw new ByteFormatError(offset + length - 4, 'the number of restart points', `${restarts}`);
    this.contents = contents;
    this.offset = offset;
    this.limit = end;
    this.restarts = restarts;
    this.rewind(0);
  }

  /** Goes to the next entry. @returns false behind the last one @throws ByteFormatError if it is none */
  next(): boolean {
    const at = this.position;
    const { contents, limit } = this;
    if (at >= limit) return false;
    this.entryStart = at;
    // The restart points are behind the entries: there are always three bytes.
    const shared = contents[at] as number;
    const unshared = contents[at + 1] as number;
    if ((shared | unshared) < TWO_BYTE_LIMIT && shared <= this.keyLength) {
      const low = contents[at + 2] as number;
      let start = at + 3;
      let length = low;
      if (low >= TWO_BYTE_LIMIT) {
        const high = contents[start++] as number;
        // Longer lengths, and those that are longer than they need be, are left to the thorough way.
        length = high > 0 && high < TWO_BYTE_LIMIT ? low - 0x80 + high * 0x80 : -1;
      }
      const valueStart = start + unshared;
      if (length >= 0 && valueStart + length <= limit) {
        this.shared = shared;
        this.takeKey(start, unshared);
        this.valueStart = valueStart;
        this.valueEnd = valueStart + length;
        this.position = this.valueEnd;
        return true;
      }
    }
    return this.nextThoroughly();
  }

  /**
   * Goes to the first entry whose key, without its last `suffix` bytes, is not before `target`.
   * @returns false if there is none
   * @throws ByteFormatError
   */
  seek(target: Uint8Array, suffix: number): boolean {
    let low = 0;
    let high = this.restarts - 1;
    // The last restart point with a key before the target; what is equal to it may go on from the one before.
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.isBefore(middle, target, suffix)) low = middle;
      else high = middle - 1;
    }
    this.rewind(low);
    while (this.next()) {
      if (compareBytes(this.keyBuffer, this.keyLength - suffix, target, target.length) >= 0) return true;
    }
    return false;
  }

  private isBefore(restart: number, target: Uint8Array, suffix: number): boolean {
    this.rewind(restart);
    return this.next() && compareBytes(this.keyBuffer, this.keyLength - suffix, target, target.length) < 0;
  }

  /** Goes before the entry of a restart point, where a key shares nothing. */
  private rewind(restart: number): void {
    const { contents } = this;
    this.keyLength = 0;
    this.entryStart = 0;
    this.position = 0;
    if (restart <= 0) return;
    const at = this.limit + 4 * restart;
    this.position =
      ((contents[at] as number) |
        ((contents[at + 1] as number) << 8) |
        ((contents[at + 2] as number) << 16) |
        ((contents[at + 3] as number) << 24)) >>>
      0;
    if (this.position >= this.limit) {
      throw new ByteFormatError(this.offset + at, 'a restart point within the block', `${this.position}`);
    }
  }

  private nextThoroughly(): boolean {
    const unshared = this.readKeyLengths();
    const value = this.readLength('length of a value');
    this.takeKey(this.position, unshared);
    this.valueStart = this.position;
    this.valueEnd = this.valueStart + value;
    this.position = this.valueEnd;
    if (this.position > this.limit) this.fail(`a value of ${value} bytes`, 'the end of the block');
    return true;
  }

  /** Takes the lengths in front of a key. @returns the bytes that it does not share */
  protected readKeyLengths(): number {
    this.entryStart = this.position;
    const shared = this.readLength('shared bytes of a key');
    const unshared = this.readLength('further bytes of a key');
    if (shared > this.keyLength) this.fail(`a key that shares at most ${this.keyLength} bytes`, `${shared}`);
    this.shared = shared;
    return unshared;
  }

  protected takeKey(at: number, unshared: number): void {
    if (at + unshared > this.limit) this.fail(`a key with ${unshared} further bytes`, 'the end of the block');
    const { shared } = this;
    const length = shared + unshared;
    if (length > this.keyBuffer.length) {
      const larger = new Uint8Array(length * 2);
      larger.set(this.keyBuffer.subarray(0, shared));
      this.keyBuffer = larger;
    }
    const { keyBuffer, contents } = this;
    if (unshared <= COPIED_ONE_BY_ONE) {
      for (let i = 0; i < unshared; i++) keyBuffer[shared + i] = contents[at + i] as number;
    } else {
      keyBuffer.set(contents.subarray(at, at + unshared), shared);
    }
    this.keyLength = length;
    this.position = at + unshared;
  }

  protected readLength(reading: string): number {
    const { value, next } = readVarint(this.contents, this.position, this.limit, this.offset, reading);
    this.position = next;
    return value;
  }

  protected fail(reading: string, found: string): never {
    throw new ByteFormatError(this.offset + this.entryStart, reading, found);
  }
}

/** Compares the first bytes of two arrays as RocksDB's usual comparator does: negative, 0 or positive. */
export function compareBytes(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  const common = Math.min(aLength, bLength);
  for (let i = 0; i < common; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}
