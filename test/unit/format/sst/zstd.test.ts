import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { BlockCompression, decompressBlock } from '../../../../src/format/sst/block-compression.js';
import { loadQuickZstd, wantsQuickZstd } from '../../../../src/format/sst/zstd.js';
import { fixturesDirectory } from '../../../support/paths.js';

/** Blocks of a table that RocksDB compressed: what stands between the magic numbers of two frames, with the size in front. */
function blocks(): Uint8Array[] {
  const bytes = readFileSync(join(fixturesDirectory(), 'sst', 'frames.zst.json'), 'utf8');
  return (JSON.parse(bytes) as string[]).map((text) => Uint8Array.from(Buffer.from(text, 'base64')));
}

describe('the two decoders of zstd', () => {
  const frames = blocks();
  const decode = (block: Uint8Array): string =>
    Buffer.from(decompressBlock(block, BlockCompression.Zstd)).toString('base64');

  it('give the same, and the quick one is wanted once a frame has turned up', async () => {
    expect(wantsQuickZstd()).toBe(false);
    const slow = frames.map(decode);
    expect(wantsQuickZstd()).toBe(true);
    await loadQuickZstd();
    expect(wantsQuickZstd()).toBe(false);
    expect(frames.map(decode)).toEqual(slow);
    expect(slow.every((text) => text.length > 100)).toBe(true);
  });

  it('of damaged frames end in a ByteFormatError or in as many bytes as the block says', async () => {
    await loadQuickZstd();
    const [block = new Uint8Array()] = frames;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(block.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        (changes) => {
          const damaged = Uint8Array.from(block);
          for (const [at, value] of changes) damaged[at] = value;
          try {
            decompressBlock(damaged, BlockCompression.Zstd, { maxBytes: 1 << 20 });
          } catch (error) {
            expect(error).toBeInstanceOf(ByteFormatError);
          }
        },
      ),
      { numRuns: 1000 },
    );
    for (let end = 0; end < block.length; end += 7) {
      expect(() => decompressBlock(block.subarray(0, end), BlockCompression.Zstd)).toThrow(ByteFormatError);
    }
    expect(decode(block)).toBe(decode(block));
  });
});
