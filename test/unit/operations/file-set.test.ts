import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Hash64, HashSet64 } from '../../../src/operations/file-set.js';

describe('HashSet64', () => {
  it('counts what a set of strings would count', () => {
    const word = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 0x7fffffff, -0x80000000));
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { maxLength: 300 }), fc.nat(5000), (hashes, expected) => {
        const set = new HashSet64(expected);
        const reference = new Set<string>();
        for (const [high, low] of hashes) {
          // 0, 0 is kept as 0, 1.
          const key = (high | low) === 0 ? '0 1' : `${high >>> 0} ${low >>> 0}`;
          expect(set.add(high, low)).toBe(!reference.has(key));
          reference.add(key);
          expect(set.size).toBe(reference.size);
        }
      }),
    );
  });

  it('grows, and is empty again when it is cleared', () => {
    const set = new HashSet64();
    for (let i = 0; i < 100_000; i++) expect(set.add(i * 7, i)).toBe(true);
    expect(set.size).toBe(100_000);
    expect(set.add(7, 1)).toBe(false);
    set.clear();
    expect(set.size).toBe(0);
    expect(set.add(7, 1)).toBe(true);
    expect(set.add(7, 1)).toBe(false);
  });
});

describe('Hash64', () => {
  const hashOf = (seed: number, text: string): string => {
    const bytes = Buffer.from(text);
    const { high, low } = new Hash64().start(seed).bytes(bytes, 0, bytes.length);
    return `${high >>> 0} ${low >>> 0}`;
  };

  it('depends on the bytes alone, wherever they stand', () => {
    const bytes = Buffer.from('xxabcdefg-yy');
    const { high, low } = new Hash64().start(1).bytes(bytes, 2, 10);
    expect(`${high >>> 0} ${low >>> 0}`).toBe(hashOf(1, 'abcdefg-'));
  });

  it('tells apart names of files that differ little', () => {
    const hashes = new Set<string>();
    let names = 0;
    const add = (name: string): void => {
      hashes.add(hashOf(1, name));
      names++;
    };
    for (let i = 0; i < 200_000; i++) add(`${i}`);
    for (let i = 0; i < 100_000; i++) add(`00000000-0000-0000-0000-${i.toString(16).padStart(12, '0')}`);
    for (let i = 0; i < 1000; i++) add('\0'.repeat(i));
    expect(hashes.size).toBe(names);
    expect(hashOf(1, 'a')).not.toBe(hashOf(2, 'a'));
  });

  it('knows where words and names end', () => {
    const two = (first: string, second: string): string => {
      const hash = new Hash64().start(1);
      for (const text of [first, second]) hash.bytes(Buffer.from(text), 0, text.length);
      return `${hash.high} ${hash.low}`;
    };
    expect(two('ab', 'cdef')).not.toBe(two('abcd', 'ef'));
    expect(two('abcd', '')).not.toBe(two('', 'abcd'));
  });
});
