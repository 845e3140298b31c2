/**
 * MurmurHash3 x64 128-bit with seed 0, as Guava's `Hashing.murmur3_128(0)`: what Flink makes operator ids with.
 */

const C1 = 0x87c37b91114253d5n;
const C2 = 0x4cf5ad432745937fn;
const BLOCK_BYTES = 16;

/**
 * The hash of the bytes.
 * @returns 16 bytes: the two halves of the hash, each little-endian
 */
export function murmur3x64128(bytes: Uint8Array): Uint8Array {
  // The last block is filled up with zeros, which the mixing of the tail leaves without effect.
  const padded = new Uint8Array(Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  let h1 = 0n;
  let h2 = 0n;
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) {
    const isWhole = at + BLOCK_BYTES <= bytes.length;
    h1 ^= mixHalf(view.getBigUint64(at, true), C1, 31n, C2);
    // The order matters: each half is scrambled with the other one as it is by then.
    if (isWhole) h1 = u64((rotateLeft(h1, 27n) + h2) * 5n + 0x52dce729n);
    h2 ^= mixHalf(view.getBigUint64(at + 8, true), C2, 33n, C1);
    if (isWhole) h2 = u64((rotateLeft(h2, 31n) + h1) * 5n + 0x38495ab5n);
  }
  const length = BigInt(bytes.length);
  h1 = u64((h1 ^ length) + (h2 ^ length));
  h2 = u64((h2 ^ length) + h1);
  h1 = finalMix(h1);
  h2 = finalMix(h2);
  h1 = u64(h1 + h2);
  h2 = u64(h2 + h1);
  const hash = new DataView(new ArrayBuffer(BLOCK_BYTES));
  hash.setBigUint64(0, h1, true);
  hash.setBigUint64(8, h2, true);
  return new Uint8Array(hash.buffer);
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function rotateLeft(value: bigint, bits: bigint): bigint {
  return u64(value << bits) | (value >> (64n - bits));
}

function mixHalf(block: bigint, before: bigint, bits: bigint, after: bigint): bigint {
  return u64(rotateLeft(u64(block * before), bits) * after);
}

function finalMix(half: bigint): bigint {
  const once = u64((half ^ (half >> 33n)) * 0xff51afd7ed558ccdn);
  const twice = u64((once ^ (once >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return twice ^ (twice >> 33n);
}
