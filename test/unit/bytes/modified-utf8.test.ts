import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../../src/bytes/byte-format-error.js';
import {
  decodeModifiedUtf8,
  encodeModifiedUtf8,
  isPlainAscii,
  modifiedUtf8Length,
} from '../../../src/bytes/modified-utf8.js';

const hex = (digits: string): Uint8Array => Buffer.from(digits, 'hex');
const decode = (digits: string): string => decodeModifiedUtf8(hex(digits), 0, digits.length / 2);

describe('modified UTF-8', () => {
  it.each([
    ['', ''],
    ['az\x7f', '617a7f'],
    ['\0', 'c080'],
    ['\x80\u07ff', 'c280dfbf'],
    ['\u0800\uffff', 'e0a080efbfbf'],
    ['\u{1f600}', 'eda0bdedb880'],
    ['\ud800', 'eda080'],
    ['\udfff\ud800', 'edbfbfeda080'],
  ])('of %j is %s', (text, digits) => {
    expect(Buffer.from(encodeModifiedUtf8(text)).toString('hex')).toBe(digits);
    expect(modifiedUtf8Length(text)).toBe(digits.length / 2);
    expect(decode(digits)).toBe(text);
  });

  it.each([
    ['00', '\0'],
    ['c080', '\0'],
    ['c181', 'A'],
    ['e08080', '\0'],
    ['e08181', 'A'],
  ])('is read from %s, which is not how Java writes it', (digits, text) => {
    expect(decode(digits)).toBe(text);
  });

  it.each([
    ['80', 0],
    ['61bf', 1],
    ['c2', 0],
    ['c241', 0],
    ['61e0a0', 1],
    ['e0a041', 0],
    ['e041a0', 0],
    ['f0908080', 0],
    ['c280ff', 2],
  ])('cannot be %s', (digits, offset) => {
    try {
      decode(digits);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ByteFormatError);
      expect((error as ByteFormatError).offset).toBe(offset);
    }
  });

  it('of every code unit is what Java writes', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = String.fromCharCode(unit);
      const length = unit === 0 ? 2 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
      const bytes = encodeModifiedUtf8(text);
      if (bytes.length !== length || decodeModifiedUtf8(bytes, 0, length) !== text) expect.unreachable(`${unit}`);
    }
  });

  it('may be a part of other bytes, and long', () => {
    const text = 'é\ud800€x'.repeat(20_000);
    const bytes = encodeModifiedUtf8(text);
    expect(decodeModifiedUtf8(Buffer.concat([hex('ff'), bytes, hex('ff')]), 1, 1 + bytes.length)).toBe(text);
  });

  it('is plain without zeros and without anything beyond ASCII', () => {
    expect(isPlainAscii(hex('01617f'), 0, 3)).toBe(true);
    expect(isPlainAscii(hex('ff6100'), 1, 2)).toBe(true);
    expect(isPlainAscii(hex('6100'), 0, 2)).toBe(false);
    expect(isPlainAscii(hex('6180'), 0, 2)).toBe(false);
  });
});
