/** The entries of both sides, told apart by hashes: a few dozen bytes each, whatever they hold. */
import { HashIndex64 } from '../file-index.js';
import type { Hash64 } from '../file-set.js';

const FIRST_CAPACITY = 1024;

/** The first checkpoint, or the second. */
export type Side = 'old' | 'new';

/** What an entry has become. */
export type EntryChange = 'added' | 'removed' | 'changed' | 'unchanged';

/** An entry, as far as hashes tell. */
export interface ComparedEntry {
  /** Of the state it is of. */
  readonly state: number;
  /** Of its identity. */
  readonly high: number;
  readonly low: number;
  readonly change: EntryChange;
  /** How often it is there: 0 or 1, but for elements of lists. */
  readonly old: number;
  readonly new: number;
}

/**
 * Collects entries in any order. The parts of an entry (a large map comes in several) add up to one value, in any order too.
 */
export class EntryColumns {
  private readonly index = new HashIndex64();
  private states = new Uint32Array(FIRST_CAPACITY);
  private high = new Uint32Array(FIRST_CAPACITY);
  private low = new Uint32Array(FIRST_CAPACITY);
  /** For each entry: high and low word of its value in the old checkpoint, then in the new one. */
  private values = new Uint32Array(4 * FIRST_CAPACITY);
  /** How often it was begun: old, new. */
  private counts = new Uint32Array(2 * FIRST_CAPACITY);

  /** Distinct entries so far. */
  get size(): number {
    return this.index.size;
  }

  /**
   * Adds an entry, or a part of one.
   * @param identity of state, key and namespace
   * @param value undefined for an element of a list, which is nothing but its identity
   * @param begins false for a further part of an entry
   */
  add(side: Side, state: number, identity: Hash64, value: Hash64 | undefined, begins: boolean): void {
    const at = this.index.indexOf(identity.high, identity.low);
    if (at === this.states.length) this.grow();
    this.states[at] = state;
    this.high[at] = identity.high;
    this.low[at] = identity.low;
    const offset = side === 'old' ? 0 : 1;
    if (begins) this.counts[2 * at + offset] = (this.counts[2 * at + offset] as number) + 1;
    if (!value) return;
    const word = 4 * at + 2 * offset;
    this.values[word] = (this.values[word] as number) + (value.high >>> 0);
    this.values[word + 1] = (this.values[word + 1] as number) + (value.low >>> 0);
  }

  /** All entries, in the order in which they were met first. */
  *compared(): Generator<ComparedEntry, void, undefined> {
    for (let at = 0; at < this.size; at++) {
      const [old = 0, now = 0] = [this.counts[2 * at], this.counts[2 * at + 1]];
      yield {
        state: this.states[at] as number,
        high: this.high[at] as number,
        low: this.low[at] as number,
        change: this.changeOf(at, old, now),
        old,
        new: now,
      };
    }
  }

  private changeOf(at: number, old: number, now: number): EntryChange {
    if (now > old) return 'added';
    if (now < old) return 'removed';
    const { values } = this;
    const isSame = values[4 * at] === values[4 * at + 2] && values[4 * at + 1] === values[4 * at + 3];
    return isSame ? 'unchanged' : 'changed';
  }

  private grow(): void {
    const larger = (words: Uint32Array): Uint32Array<ArrayBuffer> => {
      const grown = new Uint32Array(2 * words.length);
      grown.set(words);
      return grown;
    };
    this.states = larger(this.states);
    this.high = larger(this.high);
    this.low = larger(this.low);
    this.values = larger(this.values);
    this.counts = larger(this.counts);
  }
}
