/** Numbers distinct files from 0 on, by 64-bit hashes of their keys: what is known of a file can then stand in plain arrays. */
import { Hash64 } from './file-set.js';

const FIRST_CAPACITY = 1024;
const MAX_LOAD = 0.6;

/** Gives hashes numbers. Two keys have one hash with a chance of n²/2^65. */
export class HashIndex64 {
  private places = new Int32Array(FIRST_CAPACITY).fill(-1);
  private mask = FIRST_CAPACITY - 1;
  private high = new Uint32Array(FIRST_CAPACITY);
  private low = new Uint32Array(FIRST_CAPACITY);
  /** How many numbers were given. */
  size = 0;

  /** The number of a hash: a new one, {@link size} as it was, if it was never asked for. */
  indexOf(high: number, low: number): number {
    const h = high >>> 0;
    const l = low >>> 0;
    const at = this.placeOf(h, l);
    const known = this.places[at] as number;
    if (known >= 0) return known;
    const index = this.size++;
    if (index === this.high.length) this.growColumns();
    this.high[index] = h;
    this.low[index] = l;
    this.places[at] = index;
    if (this.size > this.places.length * MAX_LOAD) this.growPlaces();
    return index;
  }

  /** True if the hash has a number. */
  has(high: number, low: number): boolean {
    return (this.places[this.placeOf(high >>> 0, low >>> 0)] as number) >= 0;
  }

  /** Where the number of a hash is, or is to be. */
  private placeOf(high: number, low: number): number {
    let at = low & this.mask;
    for (let index = this.places[at] as number; index >= 0; index = this.places[at] as number) {
      if (this.high[index] === high && this.low[index] === low) break;
      at = (at + 1) & this.mask;
    }
    return at;
  }

  private growColumns(): void {
    const [high, low] = [new Uint32Array(this.high.length * 2), new Uint32Array(this.low.length * 2)];
    high.set(this.high);
    low.set(this.low);
    this.high = high;
    this.low = low;
  }

  private growPlaces(): void {
    this.places = new Int32Array(this.places.length * 2).fill(-1);
    this.mask = this.places.length - 1;
    for (let index = 0; index < this.size; index++) {
      let at = (this.low[index] as number) & this.mask;
      while ((this.places[at] as number) >= 0) at = (at + 1) & this.mask;
      this.places[at] = index;
    }
  }
}

/** Hashes text by its UTF-16 units. */
export function hashText(hash: Hash64, text: string): Hash64 {
  let i = 0;
  for (; i + 1 < text.length; i += 2) hash.word(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16));
  if (i < text.length) hash.word(text.charCodeAt(i));
  return hash.word(text.length);
}

/** Hashes files as `area/file-keys.ts` tells them apart: by the key of their directory and their name. */
export class FileHasher {
  private readonly directories = new Map<string, number>();
  private readonly hash = new Hash64();

  /** The hash of a file, to which more words may be added. Valid until the next call. */
  of(directoryKey: string, name: string): Hash64 {
    let directory = this.directories.get(directoryKey);
    if (directory === undefined) {
      directory = this.directories.size;
      this.directories.set(directoryKey, directory);
    }
    return hashText(this.hash.start(directory), name);
  }
}
