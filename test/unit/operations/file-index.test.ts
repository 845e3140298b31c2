import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileHasher, HashIndex64, hashText } from '../../../src/operations/file-index.js';
import { Hash64 } from '../../../src/operations/file-set.js';

describe('HashIndex64', () => {
  it('gives each hash the number of its first turn, through all growth', () => {
    const word = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { maxLength: 3000 }), (hashes) => {
        const index = new HashIndex64();
        const numbers = new Map<string, number>();
        for (const [high, low] of hashes) {
          const key = `${high >>> 0} ${low >>> 0}`;
          expect(index.has(high, low)).toBe(numbers.has(key));
          const expected = numbers.get(key) ?? numbers.size;
          numbers.set(key, expected);
          expect(index.indexOf(high, low)).toBe(expected);
          expect(index.size).toBe(numbers.size);
        }
      }),
    );
  });

  it('keeps apart that share their low words', () => {
    const index = new HashIndex64();
    for (let i = 0; i < 20_000; i++) expect(index.indexOf(i, i % 1000)).toBe(i);
    for (let i = 0; i < 20_000; i += 97) expect(index.indexOf(i, i % 1000)).toBe(i);
  });
});

describe('hashes of files', () => {
  it('differ for a million names in a hundred directories', () => {
    const hasher = new FileHasher();
    const index = new HashIndex64();
    for (let i = 0; i < 1_000_000; i++) {
      const { high, low } = hasher.of(`directory ${i % 100}`, `00000000-0000-4000-8000-${i}`);
      index.indexOf(high, low);
    }
    expect(index.size).toBe(1_000_000);
  });

  it('tell texts apart that differ in length, order or high bits alone', () => {
    const texts = ['', '\0', '\0\0', 'a', 'a\0', 'ab', 'ba', 'ā', 'aā', 'a😀', '😀a'];
    const hashes = texts.map((text) => {
      const { high, low } = hashText(new Hash64().start(1), text);
      return `${high} ${low}`;
    });
    expect(new Set(hashes).size).toBe(texts.length);
  });
});
