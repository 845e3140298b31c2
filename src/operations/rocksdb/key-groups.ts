import { keyGroupPrefixBytes } from '../../format/keyed/unified-key-group.js';
import type { KeyRange } from '../../format/sst/index-walk.js';

/**
 * The keys of the key groups [first, last]. The files of a handle may have others as well: after a rescaling they are those
 * of a larger range.
 * @param maxParallelism of the operator, which decides how long the numbers of key groups are
 */
export function keysOfKeyGroups(first: number, last: number, maxParallelism: number): KeyRange {
  const prefixBytes = keyGroupPrefixBytes(maxParallelism);
  const end = last + 1;
  return {
    from: keyGroupPrefix(first, prefixBytes),
    ...(end < 256 ** prefixBytes && { to: keyGroupPrefix(end, prefixBytes) }),
  };
}

/** The number of a key group as it stands in front of every key. */
export function keyGroupPrefix(keyGroup: number, prefixBytes: 1 | 2): Uint8Array {
  return prefixBytes === 1 ? Uint8Array.of(keyGroup) : Uint8Array.of(keyGroup >> 8, keyGroup & 0xff);
}
