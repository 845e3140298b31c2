import { describe, expect, it } from 'vitest';
import { InvalidLocationReferenceError, InvalidPathError } from '../../../src/errors.js';
import { Path } from '../../../src/filesystem/path.js';
import {
  CheckpointStorageLocationReference,
  decodePathFromReference,
  encodePathAsReference,
} from '../../../src/storage/location-reference.js';

const reference = (hex: string) => CheckpointStorageLocationReference.of(Buffer.from(hex, 'hex'));

describe('the default reference', () => {
  it('has no bytes and prints as such', () => {
    const { default: standard } = CheckpointStorageLocationReference;
    expect(standard.isDefault).toBe(true);
    expect(standard.bytes).toEqual(new Uint8Array(0));
    expect(String(standard)).toBe('(default)');
    expect(() => decodePathFromReference(standard)).toThrow(InvalidLocationReferenceError);
  });

  it('is not made of no bytes', () => {
    expect(() => CheckpointStorageLocationReference.of(new Uint8Array(0))).toThrow(InvalidLocationReferenceError);
  });
});

it('to a path is a magic number and the path in real UTF-8', () => {
  const encoded = encodePathAsReference(Path.parse('file:/a'));
  expect(String(encoded)).toBe(`055f3f18${Buffer.from('file:/a').toString('hex')}`);
  expect(encoded.isDefault).toBe(false);
  const umlaut = encodePathAsReference(Path.parse('file:/\u{1f600}ü'));
  expect(Buffer.from(umlaut.bytes).subarray(4).toString('utf8')).toBe('file:/\u{1f600}ü');
  expect(umlaut.bytes).toHaveLength(4 + 6 + 4 + 2);
});

it.each(['file:/a/b c', 's3://bucket/key', 'a/b', 'file:/\ufeffmark', 'file:/%20'])('comes back from %s', (text) => {
  const path = Path.parse(text);
  expect(decodePathFromReference(encodePathAsReference(path)).equals(path)).toBe(true);
});

it.each([
  ['one byte', '05', 'too short'],
  ['four bytes of magic number alone', '055f3f18', 'too short'],
  ['four other bytes', '01020304', 'too short'],
  ['the wrong magic number', '055f3f1961', 'magic number'],
  ['a magic number that starts wrong', '065f3f1861', 'magic number'],
  ['no path', `055f3f18${Buffer.from('::').toString('hex')}`, 'cannot be decoded to a path'],
  ['no UTF-8', '055f3f182f61ff', 'cannot be decoded to a path'],
])('is refused with %s', (_, hex, message) => {
  const bad = reference(hex);
  expect(() => decodePathFromReference(bad)).toThrow(InvalidLocationReferenceError);
  expect(() => decodePathFromReference(bad)).toThrow(message);
  expect(() => decodePathFromReference(bad)).toThrow(hex);
});

it('keeps why a path is none', () => {
  const bad = reference(`055f3f18${Buffer.from('::').toString('hex')}`);
  const error = (() => {
    try {
      return decodePathFromReference(bad);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ code: 'INVALID_LOCATION_REFERENCE', cause: expect.any(InvalidPathError) });
});

it('does not stand for a directory whose name is no text', () => {
  const path = Path.verbatim({ scheme: 'file', path: '/a\udcff' });
  expect(() => encodePathAsReference(path)).toThrow(InvalidLocationReferenceError);
});

it('owns its bytes', () => {
  const bytes = Buffer.from('055f3f1861', 'hex');
  const owner = CheckpointStorageLocationReference.of(bytes);
  bytes[4] = 0x62;
  owner.bytes[4] = 0x63;
  expect(String(owner)).toBe('055f3f1861');
  expect(owner.equals(reference('055f3f1861'))).toBe(true);
  expect(owner.equals(reference('055f3f1862'))).toBe(false);
  expect(owner.equals(CheckpointStorageLocationReference.default)).toBe(false);
});
