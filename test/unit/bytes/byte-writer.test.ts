import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/bytes/byte-writer.js';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('ByteWriter', () => {
  it('writes what Java writes', () => {
    const writer = new ByteWriter();
    writer.writeI8(-1);
    writer.writeI8(200);
    writer.writeI32(-2);
    writer.writeI64(-(2n ** 63n));
    writer.writeI64Array(BigInt64Array.from([1n, -1n]));
    writer.writeUtf('a\0');
    writer.writeBytes(new Uint8Array([7]));
    expect(writer.position).toBe(36);
    expect(hexOf(writer.drain())).toBe(`ffc8fffffffe80000000000000000000000000000001ffffffffffffffff000361c08007`);
  });

  it('is drained on the way and patches what is gone', () => {
    const writer = new ByteWriter();
    writer.writeI32(0);
    writer.writeI32(0);
    expect(hexOf(writer.drain())).toBe('0000000000000000');
    writer.writeI32(0);
    writer.patchI32(4, 5);
    writer.patchI32(8, -1);
    expect(writer.pending).toBe(4);
    expect(writer.position).toBe(12);
    expect(hexOf(writer.drain())).toBe('ffffffff');
    expect(writer.patches.map(({ position, bytes }) => [position, hexOf(bytes)])).toEqual([[4, '00000005']]);
    expect(writer.drain().length).toBe(0);
  });

  it('hands out bytes that later writes leave alone', () => {
    const writer = new ByteWriter();
    writer.writeI32(1);
    const first = writer.drain();
    writer.writeI32(2);
    expect(hexOf(first)).toBe('00000001');
  });

  it('grows by large pieces', () => {
    const writer = new ByteWriter();
    const large = new Uint8Array(3_000_000).fill(0x5a);
    writer.writeI8(1);
    writer.writeBytes(large);
    writer.writeI32(9);
    const bytes = writer.drain();
    expect(bytes.length).toBe(3_000_005);
    expect(bytes[0]).toBe(1);
    expect(hexOf(bytes.subarray(3_000_000))).toBe('5a00000009');
  });

  it('refuses text that is too long, and writes nothing of it', () => {
    const writer = new ByteWriter();
    writer.writeUtf('a'.repeat(0xffff));
    expect(writer.pending).toBe(2 + 0xffff);
    for (const text of ['a'.repeat(0x10000), '€'.repeat(21_846), '\0'.repeat(0x8000)]) {
      expect(() => writer.writeUtf(text)).toThrow(RangeError);
      expect(() => writer.writeUtfBytes(new Uint8Array(0x10000))).toThrow('where the format allows 65535');
    }
    expect(writer.pending).toBe(2 + 0xffff);
  });
});
