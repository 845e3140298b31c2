import fc from 'fast-check';
import murmurHash3 from 'murmurhash3js-revisited';
import { expect, it } from 'vitest';
import { murmur3x64128 } from '../../src/format/hash/murmur3.js';

/** What the other implementation gives, in Guava's byte order. */
function independent(bytes: Uint8Array): string {
  const hash = Buffer.from(murmurHash3.x64.hash128(bytes, 0), 'hex');
  return Buffer.concat([hash.subarray(0, 8).reverse(), hash.subarray(8).reverse()]).toString('hex');
}

it('murmur3x64128 agrees with an independent implementation', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(Buffer.from(murmur3x64128(bytes)).toString('hex')).toBe(independent(bytes));
    }),
    { numRuns: 2000 },
  );
});

it('murmur3x64128 agrees with it at every length around whole blocks', () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => 0x80 + i * 7);
    expect(Buffer.from(murmur3x64128(bytes)).toString('hex')).toBe(independent(bytes));
  }
});
