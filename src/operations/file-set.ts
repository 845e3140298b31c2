/** Counts distinct files by 64-bit hashes of their names: 8 bytes a file, where a set of strings would take hundreds. */

const FIRST_CAPACITY = 1024;
const MAX_LOAD = 0.65;

/** A set of 64-bit hashes. Two names have one hash with a chance of n²/2^65. */
export class HashSet64 {
  /** High and low word of each place; 0, 0 marks a free one. */
  private words: Uint32Array;
  private mask: number;
  size = 0;

  /** @param expected how many hashes there may be: room for them is made at once */
  constructor(expected = 0) {
    let capacity = FIRST_CAPACITY;
    while (capacity * MAX_LOAD < expected) capacity *= 2;
    this.words = new Uint32Array(capacity * 2);
    this.mask = capacity - 1;
  }

  /** @returns true if the hash was not there */
  add(high: number, low: number): boolean {
    const h = high >>> 0;
    const l = (h | low) === 0 ? 1 : low >>> 0;
    const { words, mask } = this;
    let at = l & mask;
    for (;;) {
      const otherHigh = words[2 * at] as number;
      const otherLow = words[2 * at + 1] as number;
      if ((otherHigh | otherLow) === 0) break;
      if (otherHigh === h && otherLow === l) return false;
      at = (at + 1) & mask;
    }
    words[2 * at] = h;
    words[2 * at + 1] = l;
    this.size++;
    if (this.size > (mask + 1) * MAX_LOAD) this.grow();
    return true;
  }

  /** Empties the set, keeping its room. */
  clear(): void {
    if (this.size === 0) return;
    this.words.fill(0);
    this.size = 0;
  }

  private grow(): void {
    const old = this.words;
    this.words = new Uint32Array(old.length * 2);
    this.mask = old.length - 1;
    const { words, mask } = this;
    for (let i = 0; i < old.length; i += 2) {
      const h = old[i] as number;
      const l = old[i + 1] as number;
      if ((h | l) === 0) continue;
      let at = l & mask;
      while (((words[2 * at] as number) | (words[2 * at + 1] as number)) !== 0) at = (at + 1) & mask;
      words[2 * at] = h;
      words[2 * at + 1] = l;
    }
  }
}

/** What {@link OwnedHashSet64.add} found. */
export const Novelty = { None: 0, ForOwner: 1, ForAll: 2 } as const;
export type Novelty = (typeof Novelty)[keyof typeof Novelty];

const WORDS = 3;

/**
 * A set of 64-bit hashes that also tells what is new to an owner, for owners that come one after the other: each place
 * remembers who asked last. One look-up instead of one in each of two sets, and look-ups are what takes the time.
 */
export class OwnedHashSet64 {
  /** High word, low word, number of the owner from 1 on; 0, 0 marks a free place. */
  private words: Uint32Array;
  private mask: number;
  size = 0;

  /** @param expected how many hashes there may be: room for them is made at once */
  constructor(expected = 0) {
    let capacity = FIRST_CAPACITY;
    while (capacity * MAX_LOAD < expected) capacity *= 2;
    this.words = new Uint32Array(capacity * WORDS);
    this.mask = capacity - 1;
  }

  /** @param owner from 0 on; an owner whose turn is over does not come again */
  add(high: number, low: number, owner: number): Novelty {
    const h = high >>> 0;
    const l = (h | low) === 0 ? 1 : low >>> 0;
    const { words, mask } = this;
    let at = (l & mask) * WORDS;
    for (;;) {
      const otherHigh = words[at] as number;
      const otherLow = words[at + 1] as number;
      if ((otherHigh | otherLow) === 0) break;
      if (otherHigh === h && otherLow === l) {
        if (words[at + 2] === owner + 1) return Novelty.None;
        words[at + 2] = owner + 1;
        return Novelty.ForOwner;
      }
      at = at === mask * WORDS ? 0 : at + WORDS;
    }
    words[at] = h;
    words[at + 1] = l;
    words[at + 2] = owner + 1;
    this.size++;
    if (this.size > (mask + 1) * MAX_LOAD) this.grow();
    return Novelty.ForAll;
  }

  private grow(): void {
    const old = this.words;
    this.words = new Uint32Array(old.length * 2);
    this.mask = this.words.length / WORDS - 1;
    const { words, mask } = this;
    for (let i = 0; i < old.length; i += WORDS) {
      const h = old[i] as number;
      const l = old[i + 1] as number;
      if ((h | l) === 0) continue;
      let at = (l & mask) * WORDS;
      while (((words[at] as number) | (words[at + 1] as number)) !== 0) at = at === mask * WORDS ? 0 : at + WORDS;
      words[at] = h;
      words[at + 1] = l;
      words[at + 2] = old[i + 2] as number;
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
