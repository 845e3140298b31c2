import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../../src/bytes/byte-format-error.js';
import { ChangeSets } from '../../../../src/format/changelog/change-sets.js';
import { counted, i32, join, lengthed } from '../../../support/byte-builder.js';
import { pushInPieces } from '../../../support/state-bytes.js';

function setsOf(bytes: Uint8Array, pieceBytes?: number): number[] {
  const sets: number[] = [];
  pushInPieces(new ChangeSets((offset) => sets.push(offset)), bytes, pieceBytes);
  return sets;
}

const keyGroup = (number: number, ...changes: readonly string[]): Uint8Array =>
  join(i32(changes.length), i32(number), ...changes.map((change) => lengthed(Buffer.from(change))));

describe('sets of changes', () => {
  const first = counted([keyGroup(-1, 'about states'), keyGroup(3, 'a', '', 'bc')]);
  const second = counted([keyGroup(7), keyGroup(8, 'd')]);
  const file = join(first, counted([]), second);

  it('start where the one before ends, in whatever pieces they come', () => {
    for (let pieceBytes = 1; pieceBytes <= file.length; pieceBytes++) {
      expect(setsOf(file, pieceBytes)).toEqual([0, first.length, first.length + 4]);
    }
    expect(setsOf(new Uint8Array(0))).toEqual([]);
  });

  it('are refused cut off inside one, and with numbers that cannot be', () => {
    for (let length = 1; length < file.length; length++) {
      if ([first.length, first.length + 4].includes(length)) continue;
      expect(() => setsOf(file.subarray(0, length)), `${length} bytes`).toThrow(ByteFormatError);
    }
    for (const [bytes, offset] of [
      [i32(-1), 0],
      [join(i32(1), i32(-1)), 4],
      [join(i32(1), i32(1), i32(-2)), 8],
      [join(i32(1), i32(1), i32(32768)), 8],
      [join(i32(1), i32(1), i32(0), i32(-1)), 12],
    ] as const) {
      expect(() => setsOf(bytes)).toThrow(expect.objectContaining({ offset }));
    }
  });

  it('end in a result or a ByteFormatError for any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = Uint8Array.from(file);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          setsOf(bytes, 5);
        } catch (error) {
          expect(error).toBeInstanceOf(ByteFormatError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
