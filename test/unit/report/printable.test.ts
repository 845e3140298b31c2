import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../../src/report/printable.js';

describe('printable', () => {
  it.each([
    ['plain text', 'plain text'],
    ['Fenêtre 窓 😀', 'Fenêtre 窓 😀'],
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\u009b2J', '\\x9b2J'],
    ['abc\u202efdp.exe', 'abc\\u{202e}fdp.exe'],
    ['zero\u200bwidth', 'zero\\u{200b}width'],
    ['no\u00a0break', 'no\\xa0break'],
    ['line\u2028end', 'line\\u{2028}end'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['lone \ud800 surrogate', 'lone \\u{d800} surrogate'],
    [' x ', '\\x20x\\x20'],
    [' ', '\\x20'],
    ['', ''],
    ['C:\\dir', 'C:\\dir'],
    ['C:\\new', 'C:\\\\new'],
    ['\\\u001b', '\\\\\\x1b'],
  ])('%j reads %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it('leaves nothing that a terminal acts on', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });

  it('shows different texts differently', () => {
    const unit = fc.constantFrom('\\', 'n', 'x', '1', 'b', '\n', '\u001b', ' ', 'u', '{', '}', '\u202e', '2', '0');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(readBack(printable(text))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });
});

function readBack(shown: string): string {
  const known: Record<string, string> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };
  return shown.replace(/\\(?:([nrt\\])|x([0-9a-f]{2})|u\{([0-9a-f]+)\})/g, (_, short, two, more) =>
    short === undefined ? String.fromCodePoint(Number.parseInt(two ?? more, 16)) : (known[short] ?? ''),
  );
}
