/** Entries of a state, many at once, in one buffer: nothing is allocated for a single one. */

const FIRST_CAPACITY = 512 * 1024;
/** A batch is full from this many bytes or entries on. */
const FULL_BYTES = 256 * 1024;
const FULL_ENTRIES = 8192;
/** A buffer that a huge entry has made this large is not kept. */
const KEPT_CAPACITY = 4 * 1024 * 1024;
/** Up to this many bytes a loop is quicker than a call. */
const COPIED_ONE_BY_ONE = 32;

/**
 * Keys with their values. All of it is valid until the next batch is asked for, which takes the same buffer. Key `i` is
 * [keyStart(i), keyEnd(i)) of {@link EntryBatch.bytes}, its value [keyEnd(i), valueEnd(i)).
 */
export class EntryBatch {
  /** Holds all keys and values. */
  bytes: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  /** How many entries there are. */
  length = 0;
  /** Where each key starts and ends, and at last where the last value ends. */
  private bounds = new Float64Array(2 * FULL_ENTRIES + 3);
  /** End of what is written, the key that is not decided yet included. */
  private end = 0;

  /** True if no further entry should be added. */
  get isFull(): boolean {
    return this.end >= FULL_BYTES || this.length >= FULL_ENTRIES;
  }

  keyStart(index: number): number {
    return this.bounds[2 * index] as number;
  }
  keyEnd(index: number): number {
    return this.bounds[2 * index + 1] as number;
  }
  valueEnd(index: number): number {
    return this.bounds[2 * index + 2] as number;
  }

  /** A view of a key. */
  key(index: number): Uint8Array {
    return this.bytes.subarray(this.keyStart(index), this.keyEnd(index));
  }

  /** A view of a value. */
  value(index: number): Uint8Array {
    return this.bytes.subarray(this.keyEnd(index), this.valueEnd(index));
  }

  /** Forgets all entries. */
  clear(): void {
    if (this.bytes.length > KEPT_CAPACITY) this.bytes = new Uint8Array(FIRST_CAPACITY);
    this.length = 0;
    this.end = 0;
    this.bounds[0] = 0;
  }

  /** Writes a key, which becomes an entry only if {@link EntryBatch.endEntry} is called. */
  startEntry(key: Uint8Array, length: number): void {
    this.end = this.keyStart(this.length);
    this.append(key, 0, length);
    this.bounds[2 * this.length + 1] = this.end;
  }

  /** A view of the key that was started. */
  get startedKey(): Uint8Array {
    return this.key(this.length);
  }

  /** Compares the key that was started with another: negative, 0 or positive. */
  compareStarted(key: Uint8Array, length: number): number {
    const start = this.keyStart(this.length);
    const own = this.keyEnd(this.length) - start;
    const { bytes } = this;
    const common = Math.min(own, length);
    for (let i = 0; i < common; i++) {
      const difference = (bytes[start + i] as number) - (key[i] as number);
      if (difference !== 0) return difference;
    }
    return own - length;
  }

  /** Adds bytes to the value of the entry that was started. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    const at = this.end;
    if (at + size > this.bytes.length) this.grow(at + size);
    const target = this.bytes;
    if (size <= COPIED_ONE_BY_ONE) {
      for (let i = 0; i < size; i++) target[at + i] = bytes[start + i] as number;
    } else {
      target.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), at);
    }
    this.end = at + size;
  }

  /** Adds one byte to the value of the entry that was started. */
  appendByte(byte: number): void {
    if (this.end === this.bytes.length) this.grow(this.end + 1);
    this.bytes[this.end++] = byte;
  }

  /** Makes an entry of what was started. */
  endEntry(): void {
    this.length++;
    this.bounds[2 * this.length] = this.end;
  }

  /** Forgets what was started. */
  dropEntry(): void {
    this.end = this.keyStart(this.length);
  }

  private grow(capacity: number): void {
    const larger = new Uint8Array(Math.max(capacity, Math.ceil(this.bytes.length * 1.5)));
    larger.set(this.bytes.subarray(0, this.end));
    this.bytes = larger;
  }
}
