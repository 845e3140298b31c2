/**
 * Reads Java `DataInput` primitives from a window of a file: the bytes that are in memory, and how many there are in all.
 * Synchronous; whoever owns the I/O refills the window between two records (see {@link ByteReader.wantsRefill}).
 */
import { ByteFormatError } from './byte-format-error.js';
import { checkModifiedUtf8, decodeModifiedUtf8, isPlainAscii } from './modified-utf8.js';

/** Something of known size that can be read in ranges; `FileSystem.open` of the file-system layer gives one. */
export interface RangedBytes {
  readonly size: number;
  /** Puts exactly the bytes [start, end) into `target` from `offset` on, or rejects. */
  readInto(target: Uint8Array, offset: number, start: number, end: number, signal?: AbortSignal): Promise<void>;
}

/**
 * A string of the input that is decoded only if somebody asks. It points into the reader's window: valid until the reader
 * goes on to the next record.
 */
export class Utf8Slice {
  /** Index of the first byte of the text in {@link Utf8Slice.buffer}. */
  start = 0;
  /** Index after the last one. */
  end = 0;
  /** Where the text starts in the input (after its 16-bit length). */
  offset = 0;
  /** True if the bytes are ASCII without zero, so that no other bytes can mean the same text. */
  plain = true;
  buffer: Buffer = Buffer.alloc(0);

  /** Encoded bytes. */
  get byteLength(): number {
    return this.end - this.start;
  }

  /** The text. */
  text(): string {
    return this.plain
      ? this.buffer.toString('latin1', this.start, this.end)
      : decodeModifiedUtf8(this.buffer, this.start, this.end);
  }

  /** A copy of the encoded bytes. */
  bytes(): Uint8Array {
    return copyBytes(this.buffer, this.start, this.end);
  }

  /** Makes this the empty string. */
  clear(): void {
    this.start = 0;
    this.end = 0;
    this.plain = true;
  }
}

/** A copy of [start, end), as a plain `Uint8Array` (`slice` of a Buffer would share memory). */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}

/** Most bytes that may be left unread when the window is refilled: the largest record that is read in one go. */
export const MAX_LEFT_OVER = 384 * 1024;

const HIGH_BITS = 0x80808080 | 0;

/** A read that is under way. */
interface PendingRead {
  readonly start: number;
  readonly end: number;
  readonly done: Promise<void>;
}

/** See the file comment. */
export class ByteReader {
  /** High and low word of the last 64-bit value read; `high` signed, `low` unsigned. */
  high = 0;
  low = 0;
  /** Next byte to read, as an index into {@link ByteReader.buffer}. */
  position = 0;
  readonly buffer: Buffer;
  private readonly view: DataView;
  private limit: number;
  /** Offset in the input of index 0 of the buffer; negative where the window starts behind its own beginning. */
  private base = 0;
  /** Bytes of the input that have been asked for. */
  private requested = 0;
  /** Half of the buffer that the window ends in. */
  private half: 0 | 1 = 1;
  private pending: PendingRead | undefined;

  private constructor(
    buffer: Buffer,
    limit: number,
    /** Size of the whole input in bytes. */
    readonly total: number,
    /** Bytes of a read; 0 for bytes that are all in memory. */
    private readonly chunk: number,
  ) {
    this.buffer = buffer;
    this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.limit = limit;
  }

  /** A reader of bytes that are all in memory. They are not copied. */
  static over(bytes: Uint8Array): ByteReader {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new ByteReader(buffer, bytes.byteLength, bytes.byteLength, 0);
  }

  /**
   * A reader of `total` bytes with an empty window; {@link refill} it. Input of more than `chunkBytes` is read in pieces of
   * that size, the next one while this one is worked on: the buffer has two halves, each with room in front for what was
   * left of the other.
   */
  static windowed(total: number, chunkBytes: number): ByteReader {
    const size = total <= chunkBytes ? total : 2 * (MAX_LEFT_OVER + chunkBytes);
    return new ByteReader(Buffer.allocUnsafeSlow(size), 0, total, chunkBytes);
  }

  /** Offset of the next byte in the input. */
  get offset(): number {
    return this.base + this.position;
  }

  /** Bytes from here to the end of the input: the bound of every count and length. */
  get remaining(): number {
    return this.total - this.base - this.position;
  }

  /** Bytes from here to the end of the window. */
  get available(): number {
    return this.limit - this.position;
  }

  /** At most `bytes` bytes from here on, as far as the window has them. Nothing is read. */
  peek(bytes: number): Uint8Array {
    return this.buffer.subarray(this.position, Math.min(this.position + bytes, this.limit));
  }

  /** True if fewer than `bytes` are in the window although the input has more. */
  wantsRefill(bytes: number): boolean {
    return this.limit - this.position < bytes && this.base + this.limit < this.total;
  }

  /**
   * Drops what has been read and adds the next bytes of the source to the window. All slices become invalid. At most
   * {@link MAX_LEFT_OVER} bytes may be unread. The source must stay open until the reader is not used any more.
   */
  async refill(source: RangedBytes, signal?: AbortSignal): Promise<void> {
    if (this.total <= this.chunk) {
      await source.readInto(this.buffer, 0, 0, this.total, signal);
      this.limit = this.total;
      this.requested = this.total;
      return;
    }
    const { start, end, done } = this.pending ?? this.request(source, signal);
    this.pending = undefined;
    await done;
    const left = this.limit - this.position;
    this.half = this.half === 0 ? 1 : 0;
    const at = this.regionStart(this.half);
    this.buffer.copyWithin(at - left, this.position, this.limit);
    this.position = at - left;
    this.limit = at + end - start;
    this.base = start - at;
    if (this.requested < this.total) this.pending = this.request(source, signal);
  }

  private regionStart(half: 0 | 1): number {
    return half * (MAX_LEFT_OVER + this.chunk) + MAX_LEFT_OVER;
  }

  private request(source: RangedBytes, signal: AbortSignal | undefined): PendingRead {
    const start = this.requested;
    const end = Math.min(this.total, start + this.chunk);
    const at = this.regionStart(this.half === 0 ? 1 : 0);
    const done = source.readInto(this.buffer, at, start, end, signal);
    // Whoever stops early never waits for it.
    done.catch(() => {});
    this.requested = end;
    return { start, end, done };
  }

  /** @throws ByteFormatError always: `found` was at `offset` (default: here) where `reading` was expected */
  fail(reading: string, found: string, offset = this.offset): never {
    throw new ByteFormatError(offset, reading, found);
  }

  private need(bytes: number, reading: string): void {
    if (this.position + bytes <= this.limit) return;
    if (bytes > this.remaining) {
      const left = this.remaining;
      this.fail(reading, left === 0 ? 'the end of the file' : `the end of the file after ${left} of ${bytes} bytes`);
    }
    throw new RangeError(`record of ${bytes} bytes does not fit the window (${reading} at ${this.offset})`);
  }

  readU8(reading: string): number {
    this.need(1, reading);
    return this.buffer[this.position++] as number;
  }

  readI8(reading: string): number {
    return (this.readU8(reading) << 24) >> 24;
  }

  readI32(reading: string): number {
    this.need(4, reading);
    const value = this.view.getInt32(this.position);
    this.position += 4;
    return value;
  }

  readI16(reading: string): number {
    this.need(2, reading);
    const value = this.view.getInt16(this.position);
    this.position += 2;
    return value;
  }

  readU16(reading: string): number {
    return this.readI16(reading) & 0xffff;
  }

  readF32(reading: string): number {
    this.need(4, reading);
    const value = this.view.getFloat32(this.position);
    this.position += 4;
    return value;
  }

  readF64(reading: string): number {
    this.need(8, reading);
    const value = this.view.getFloat64(this.position);
    this.position += 8;
    return value;
  }

  /** Reads 64 bits into {@link high} and {@link low}. */
  readI64(reading: string): void {
    this.need(8, reading);
    this.high = this.view.getInt32(this.position);
    this.low = this.view.getUint32(this.position + 4);
    this.position += 8;
  }

  readBigInt64(reading: string): bigint {
    this.need(8, reading);
    const value = this.view.getBigInt64(this.position);
    this.position += 8;
    return value;
  }

  /** The 64-bit value at an index of the window, e.g. one of a run that {@link take} returned. */
  bigInt64At(index: number): bigint {
    return this.view.getBigInt64(index);
  }

  /**
   * Reads a count of things that take at least `bytesEach` bytes.
   * @throws ByteFormatError if it is negative or needs more bytes than remain
   */
  readCount(reading: string, bytesEach: number): number {
    const offset = this.offset;
    const count = this.readI32(reading);
    if (count < 0) this.fail(reading, `the negative number ${count}`, offset);
    if (count * bytesEach > this.remaining) {
      this.fail(reading, `${count}, which needs ${count * bytesEach} bytes where ${this.remaining} remain`, offset);
    }
    return count;
  }

  /** Reads the 16-bit length and steps over the text, which `slice` then describes. The text is checked. */
  readUtf(reading: string, slice: Utf8Slice): void {
    this.need(2, reading);
    const length = this.view.getUint16(this.position);
    this.need(2 + length, reading);
    const start = this.position + 2;
    const end = start + length;
    slice.buffer = this.buffer;
    slice.start = start;
    slice.end = end;
    slice.offset = this.base + start;
    slice.plain = this.isPlain(start, end);
    if (!slice.plain) checkModifiedUtf8(this.buffer, start, end, slice.offset, reading);
    this.position = end;
  }

  /** `isPlainAscii`, four bytes at a time: most of a file are strings. */
  private isPlain(start: number, end: number): boolean {
    const { view } = this;
    let at = start;
    for (; at + 4 <= end; at += 4) {
      const word = view.getInt32(at);
      // A high bit is set by a byte of 0x80 and more, and, borrowing, by a byte of 0.
      if (((word | ((word - 0x01010101) & ~word)) & HIGH_BITS) !== 0) return false;
    }
    return isPlainAscii(this.buffer, at, end);
  }

  /**
   * Steps over at most `bytes` bytes that are in the window.
   * @returns the index of the first one in {@link buffer}
   */
  take(bytes: number, reading: string): number {
    this.need(bytes, reading);
    const start = this.position;
    this.position += bytes;
    return start;
  }
}
