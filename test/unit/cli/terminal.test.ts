import { describe, expect, it } from 'vitest';
import { decideColor, decideWidth } from '../../../src/cli/terminal.js';

describe('decideColor', () => {
  it.each<[boolean, Record<string, string>, boolean, boolean]>([
    [true, {}, false, true],
    [false, {}, false, false],
    [true, {}, true, false],
    [true, { NO_COLOR: '1' }, false, false],
    [true, { NO_COLOR: '' }, false, true],
    [true, { TERM: 'dumb' }, false, false],
    [false, { FORCE_COLOR: '1' }, false, true],
    [false, { FORCE_COLOR: '' }, false, true],
    [true, { FORCE_COLOR: '0' }, false, false],
    [true, { FORCE_COLOR: 'false' }, false, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false, false],
    [false, { FORCE_COLOR: '1' }, true, false],
  ])('terminal %s, %o, refused %s: %s', (isTTY, environment, refused, expected) => {
    expect(decideColor({ isTTY, environment, refused })).toBe(expected);
  });
});

describe('decideWidth', () => {
  it('is that of the terminal, 80 if it does not say, and endless without one', () => {
    expect(decideWidth({ isTTY: true, columns: 132 })).toBe(132);
    expect(decideWidth({ isTTY: true, columns: 0 })).toBe(80);
    expect(decideWidth({ isTTY: true })).toBe(80);
    expect(decideWidth({ columns: 132 })).toBe(Number.POSITIVE_INFINITY);
  });
});
