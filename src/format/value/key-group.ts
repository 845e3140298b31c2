/** Which key group a key belongs to. Origin: Flink `KeyGroupRangeAssignment`, `MathUtils.murmurHash`. */

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/** Flink's mixing of a hash code; never negative. */
function murmurHash(code: number): number {
  let hash = Math.imul(code, 0xcc9e2d51);
  hash = rotateLeft(hash, 15);
  hash = Math.imul(hash, 0x1b873593);
  hash = rotateLeft(hash, 13);
  hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  hash ^= 4;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  if (hash >= 0) return hash;
  return hash === -0x8000_0000 ? 0 : -hash;
}

/**
 * The key group of a key.
 * @param hashCode what `hashCode()` of the Java object returns
 * @param maxParallelism of the operator, 1 to {@link MAX_MAX_PARALLELISM}
 */
export function keyGroupOf(hashCode: number, maxParallelism: number): number {
  return murmurHash(hashCode) % maxParallelism;
}
