/** The hash code of a row of Flink SQL. Origin: Flink `MurmurHashUtils.hashBytesByWords`: MurmurHash3, 32 bits, seed 42. */

const SEED = 42;

/** The hash of [start, end), whose length is a multiple of four; a rest is left out. Words are little-endian. */
export function hashBytesByWords(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let at = start; at + 4 <= end; at += 4) {
    let word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    word = Math.imul(word, 0xcc9e2d51);
    word = (word << 15) | (word >>> 17);
    hash ^= Math.imul(word, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash ^= end - start;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
