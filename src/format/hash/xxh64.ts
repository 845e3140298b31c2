/**
 * XXH64 with seed 0, one of the checksums that RocksDB can be told to use. Flink never does, so this is written to be right,
 * not fast.
 */

const MASK = 0xffffffffffffffffn;
const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;

/** The hash of the bytes [start, end), as an unsigned number of 64 bits. */
export function xxh64(bytes: Uint8Array, start = 0, end = bytes.length): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  const length = end - start;
  let at = 0;
  let hash = PRIME_5;
  if (length >= 32) {
    const lanes = [(PRIME_1 + PRIME_2) & MASK, PRIME_2, 0n, -PRIME_1 & MASK];
    for (; at + 32 <= length; at += 32) {
      for (const [lane, value] of lanes.entries()) lanes[lane] = round(value, view.getBigUint64(at + 8 * lane, true));
    }
    hash = lanes.reduce((sum, value, lane) => sum + rotateLeft(value, [1n, 7n, 12n, 18n][lane] ?? 0n), 0n) & MASK;
    for (const value of lanes) hash = ((hash ^ round(0n, value)) * PRIME_1 + PRIME_4) & MASK;
  }
  hash = (hash + BigInt(length)) & MASK;
  for (; at + 8 <= length; at += 8) {
    hash = (rotateLeft(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * PRIME_1 + PRIME_4) & MASK;
  }
  if (at + 4 <= length) {
    const word = (BigInt(view.getUint32(at, true)) * PRIME_1) & MASK;
    hash = (rotateLeft(hash ^ word, 23n) * PRIME_2 + PRIME_3) & MASK;
    at += 4;
  }
  for (; at < length; at++) {
    const byte = (BigInt(view.getUint8(at)) * PRIME_5) & MASK;
    hash = (rotateLeft(hash ^ byte, 11n) * PRIME_1) & MASK;
  }
  hash = ((hash ^ (hash >> 33n)) * PRIME_2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * PRIME_3) & MASK;
  return hash ^ (hash >> 32n);
}

function round(lane: bigint, input: bigint): bigint {
  return (rotateLeft((lane + input * PRIME_2) & MASK, 31n) * PRIME_1) & MASK;
}

function rotateLeft(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}
