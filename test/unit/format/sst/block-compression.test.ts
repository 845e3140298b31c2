import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { snappyCompress } from 'hysnappy';
import lz4 from 'lz4js';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { BlockCompression, decompressBlock, isBlockCompression } from '../../../../src/format/sst/block-compression.js';
import { UnknownFormatError } from '../../../../src/format/unknown-format-error.js';
import { hex, join } from '../../../support/byte-builder.js';

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

function lz4Block(data: Uint8Array): Uint8Array {
  const target = new Uint8Array(lz4.compressBound(data.length));
  const length = lz4.compressBlock(data, target, 0, data.length, new Uint32Array(1 << 16));
  // What does not become smaller is written as literals.
  const block = length > 0 ? target.subarray(0, length) : literals(data);
  return join(varint(data.length), block);
}

function literals(data: Uint8Array): Uint8Array {
  const head = data.length < 15 ? [data.length << 4] : [0xf0];
  if (data.length >= 15) {
    let rest = data.length - 15;
    for (; rest >= 255; rest -= 255) head.push(255);
    head.push(rest);
  }
  return join(Uint8Array.from(head), data);
}

const repetitive = fc
  .array(fc.constantFrom('checkpoint', 'state', 'key', 'x'), { maxLength: 200 })
  .map((words) => new Uint8Array(Buffer.from(words.join(' '))));

describe('blocks of a table', () => {
  it('are what was compressed', () => {
    fc.assert(
      fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 500 })), (data) => {
        const same = (block: Uint8Array, compression: BlockCompression): void =>
          expect(Buffer.from(decompressBlock(block, compression))).toEqual(Buffer.from(data));
        same(data, BlockCompression.None);
        same(snappyCompress(data), BlockCompression.Snappy);
        same(lz4Block(data), BlockCompression.Lz4);
        same(lz4Block(data), BlockCompression.Lz4Hc);
      }),
    );
  });

  it('are zstd frames with their size in front', () => {
    const frame = hex('28b52ffd 20 03 190000 616263');
    expect(Buffer.from(decompressBlock(join(varint(3), frame), BlockCompression.Zstd)).toString()).toBe('abc');
    expect(() => decompressBlock(join(varint(4), frame), BlockCompression.Zstd)).toThrow(ByteFormatError);
  });

  it('are deflated data, with their size in front from version 2 on', () => {
    const deflated = deflateRawSync(Buffer.from('abcabcabc'));
    const { Zlib } = BlockCompression;
    expect(Buffer.from(decompressBlock(join(varint(9), deflated), Zlib)).toString()).toBe('abcabcabc');
    expect(Buffer.from(decompressBlock(deflated, Zlib, { formatVersion: 1 })).toString()).toBe('abcabcabc');
    for (const size of [8, 10]) {
      expect(() => decompressBlock(join(varint(size), deflated), Zlib)).toThrow(ByteFormatError);
    }
    expect(() => decompressBlock(deflated, Zlib, { formatVersion: 1, maxBytes: 8 })).toThrow(ByteFormatError);
  });

  it('are refused by name where nothing here reads them', () => {
    for (const compression of [BlockCompression.Bzip2, BlockCompression.Xpress]) {
      expect(() => decompressBlock(new Uint8Array(9), compression)).toThrow(UnknownFormatError);
    }
  });

  it('are refused if they say that they become too large, before anything is made of them', () => {
    for (const compression of [BlockCompression.Snappy, BlockCompression.Lz4, BlockCompression.Zstd]) {
      expect(() => decompressBlock(join(varint(2 ** 30), new Uint8Array(10)), compression)).toThrow(ByteFormatError);
      expect(() => decompressBlock(snappyCompress(new Uint8Array(100)), compression, { maxBytes: 99 })).toThrow(
        ByteFormatError,
      );
    }
  });

  it('end in a result or a ByteFormatError for any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.integer({ min: 0, max: 300 }),
        fc.constantFrom(BlockCompression.Snappy, BlockCompression.Lz4, BlockCompression.Zstd),
        (bytes, size, compression) => {
          try {
            expect(decompressBlock(join(varint(size), bytes), compression).length).toBe(size);
          } catch (error) {
            expect(error).toBeInstanceOf(ByteFormatError);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('have compressions of which others exist', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 64].filter(isBlockCompression)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 64]);
  });
});
