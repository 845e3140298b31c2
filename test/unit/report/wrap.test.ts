import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWidth, wrapText } from '../../../src/report/wrap.js';

describe('textWidth', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['窓口', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['😀', 2],
    ['\u001b[31mred\u001b[39m', 3],
  ])('of %j is %i', (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });
});

describe('wrapText', () => {
  it('leaves a line that fits', () => {
    expect(wrapText('one two', 7)).toEqual(['one two']);
    expect(wrapText('', 5)).toEqual(['']);
    expect(wrapText('endless', Number.POSITIVE_INFINITY)).toEqual(['endless']);
  });

  it('breaks behind blanks and separators', () => {
    expect(wrapText('Window(Tumbling) -> Sink: Print', 20)).toEqual(['Window(Tumbling) -> ', 'Sink: Print']);
    expect(wrapText('shared/0123456-789', 12)).toEqual(['shared/', '0123456-789']);
  });

  it('breaks anywhere if there is no good place', () => {
    expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrapText('窓窓窓', 5)).toEqual(['窓窓', '窓']);
    expect(wrapText('窓窓', 1)).toEqual(['窓', '窓']);
  });

  it('loses nothing and stays within the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 4, max: 40 }), (text, width) => {
        const lines = wrapText(text, width);
        expect(lines.join('')).toBe(text);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
