/** Counts distinct files by 64-bit hashes of their names: 8 bytes a file, where a set of strings would take hundreds. */

const FIRST_CAPACITY = 1024;
const MAX_LOAD = 0.6;

/** A set of 64-bit hashes. Two names have one hash with a chance of n²/2^65. */
export class HashSet64 {
  private high = new Uint32Array(FIRST_CAPACITY);
  private low = new Uint32Array(FIRST_CAPACITY);
  private mask = FIRST_CAPACITY - 1;
  size = 0;

  /** @returns true if the hash was not there */
  add(high: number, low: number): boolean {
    // 0, 0 marks a free place.
    const h = high >>> 0;
    const l = (h | low) === 0 ? 1 : low >>> 0;
    let at = l & this.mask;
    while (this.high[at] !== 0 || this.low[at] !== 0) {
      if (this.high[at] === h && this.low[at] === l) return false;
      at = (at + 1) & this.mask;
    }
    this.high[at] = h;
    this.low[at] = l;
    this.size++;
    if (this.size > this.high.length * MAX_LOAD) this.grow();
    return true;
  }

  /** Empties the set, keeping its room. */
  clear(): void {
    if (this.size === 0) return;
    this.high.fill(0);
    this.low.fill(0);
    this.size = 0;
  }

  private grow(): void {
    const { high, low } = this;
    const capacity = high.length * 2;
    this.high = new Uint32Array(capacity);
    this.low = new Uint32Array(capacity);
    this.mask = capacity - 1;
    for (let i = 0; i < high.length; i++) {
      const h = high[i] as number;
      const l = low[i] as number;
      if ((h | l) === 0) continue;
      let at = l & this.mask;
      while (this.high[at] !== 0 || this.low[at] !== 0) at = (at + 1) & this.mask;
      this.high[at] = h;
      this.low[at] = l;
    }
  }
}

/** Mixes numbers and bytes into a 64-bit hash, two words at a time. */
export class Hash64 {
  high = 0;
  low = 0;

  /** Starts anew. */
  start(seed: number): this {
    this.high = seed ^ 0x9e3779b9;
    this.low = Math.imul(seed, 0x85ebca6b) ^ 0xc2b2ae35;
    return this;
  }

  word(word: number): this {
    this.high = Math.imul(this.high ^ word, 0x85ebca6b);
    this.high ^= this.high >>> 15;
    this.low = Math.imul(this.low ^ word, 0xc2b2ae35);
    this.low ^= (this.low >>> 13) ^ this.high;
    return this;
  }

  /** The bytes [start, end), and their number. */
  bytes(bytes: Uint8Array, start: number, end: number): this {
    let at = start;
    for (; at + 4 <= end; at += 4) {
      this.word(
        (bytes[at] as number) |
          ((bytes[at + 1] as number) << 8) |
          ((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 24),
      );
    }
    for (; at < end; at++) this.word(bytes[at] as number);
    return this.word(end - start);
  }
}
