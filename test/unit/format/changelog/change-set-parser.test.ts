import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../../../src/bytes/byte-reader.js';
import { ChangeSetParser } from '../../../../src/format/changelog/change-set-parser.js';

const ints = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value, 4 * i);
  return bytes;
};
/** Two key groups: metadata with one record, key group 5 with two changes, one of them empty. */
const SET = Buffer.concat([
  ints(2),
  ints(1, -1),
  ints(3),
  Buffer.from('abc'),
  ints(2, 5),
  ints(2),
  Buffer.from('de'),
  ints(0),
]);

function changesOf(bytes: Uint8Array, toSkip?: number): string[] {
  const parser = new ChangeSetParser(toSkip);
  const reader = ByteReader.over(bytes);
  const found: string[] = [];
  while (!parser.isDone) {
    const change = parser.next(reader);
    if (change) found.push(`${change.keyGroup} ${Buffer.from(change.buffer.subarray(change.start, change.end))}`);
  }
  return found;
}

describe('the changes of a set', () => {
  it('come in order, and end with the set', () => {
    expect(changesOf(Buffer.concat([SET, SET]))).toEqual(['-1 abc', '5 de', '5 ']);
  });

  it('are found behind other bytes', () => {
    expect(changesOf(Buffer.concat([Buffer.alloc(200_000, 0xff), SET]), 200_000)).toEqual(['-1 abc', '5 de', '5 ']);
  });

  it('may be none', () => {
    expect(changesOf(ints(0))).toEqual([]);
    expect(changesOf(ints(1, 0, 3))).toEqual([]);
  });

  it('are refused if counts or key groups cannot be', () => {
    expect(() => changesOf(ints(-1))).toThrow(/number of key groups/);
    expect(() => changesOf(ints(1, -1, 0))).toThrow(/number of changes/);
    expect(() => changesOf(ints(1, 1, 40000))).toThrow(/key group/);
    expect(() => changesOf(ints(1, 1, 5, 100))).toThrow(/a change/);
  });
});
