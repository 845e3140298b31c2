import fc from 'fast-check';
import { createCRC32, createXXHash3, createXXHash32, createXXHash64 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { crc32c, maskCrc32c } from '../../../../src/format/hash/crc32c.js';
import { xxh3 } from '../../../../src/format/hash/xxh3.js';
import { xxh32 } from '../../../../src/format/hash/xxh32.js';
import { xxh64 } from '../../../../src/format/hash/xxh64.js';

/** Bytes of every length up to 3,000, where all branches of the hashes begin and end. */
function* samples(): Generator<Uint8Array> {
  let state = 1;
  for (let length = 0; length <= 3000; length += length < 600 ? 1 : 37) {
    yield Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
  }
}

const hex = (value: bigint | number, digits: number): string => value.toString(16).padStart(digits, '0');

describe('checksums', () => {
  it('CRC-32C is that of an independent implementation', async () => {
    const other = await createCRC32(0x82f63b78);
    for (const bytes of samples()) expect(hex(crc32c(bytes), 8)).toBe(other.init().update(bytes).digest('hex'));
  });

  it('CRC-32C has the value of the published example, masked as in RocksDB', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(maskCrc32c(0xe3069283)).toBe((((0xe3069283 >>> 15) | (0xe3069283 << 17)) + 0xa282ead8) >>> 0);
  });

  it('CRC-32C of a part goes on from the part before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
        const cut = Math.min(at, bytes.length);
        expect(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut))).toBe(crc32c(bytes));
      }),
    );
  });

  it('XXH3 is that of an independent implementation', async () => {
    const other = await createXXHash3();
    for (const bytes of samples()) expect(hex(xxh3(bytes), 16)).toBe(other.init().update(bytes).digest('hex'));
  });

  it('XXH3 is right at any place of a buffer and for bytes that carry far', async () => {
    const other = await createXXHash3();
    for (const fill of [0, 1, 0x7f, 0x80, 0xff]) {
      const bytes = new Uint8Array(5003).fill(fill);
      const part = bytes.subarray(3);
      expect(hex(xxh3(bytes, 3), 16)).toBe(other.init().update(part).digest('hex'));
    }
  });

  it('XXH32 is that of an independent implementation', async () => {
    const other = await createXXHash32();
    for (const bytes of samples()) expect(hex(xxh32(bytes), 8)).toBe(other.init().update(bytes).digest('hex'));
  });

  it('XXH64 is that of an independent implementation', async () => {
    const other = await createXXHash64();
    for (const bytes of samples()) expect(hex(xxh64(bytes), 16)).toBe(other.init().update(bytes).digest('hex'));
  });
});
