import { describe, expect, it } from 'vitest';
import { keyGroupOf } from '../../../../src/format/value/key-group.js';
import { encodeKey } from '../../../../src/format/value/parse-key.js';
import { serializerOf } from '../../../../src/format/value/serializer-of.js';
import { UnwritableValueError } from '../../../../src/format/value/value-serializer.js';
import { flinkValues, snapshotOf } from '../../../support/flink-values.js';

const FLINK = flinkValues();

function serializer(name: string) {
  const found = FLINK.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return serializerOf(snapshotOf(found));
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a key given as text', () => {
  it.each([
    ['string', 'a', '0261', 'a'],
    ['string', '"a"', '0422' + '6122', '"a"'],
    ['string', '17', '033137', '17'],
    ['string', '[1]', '045b315d', '[1]'],
    ['string', '', '01', ''],
    ['int', '-1', 'ffffffff', -1],
    ['long', '9223372036854775807', '7fffffffffffffff', '9223372036854775807'],
    ['long', '-9223372036854775808', '8000000000000000', '-9223372036854775808'],
    ['long', '17', '0000000000000011', 17],
    ['short', '32767', '7fff', 32767],
    ['boolean', 'true', '01', true],
    ['double', '0.5', '3fe0000000000000', 0.5],
    ['double', 'NaN', '7ff8000000000000', 'NaN'],
    ['char', '7', '0037', '7'],
    ['enum', 'GREEN', '00000001', 'GREEN'],
    ['local-date', '2024-02-29', '000007e8021d', '2024-02-29'],
    ['instant', '1970-01-01T00:00:01Z', '000000000000000100000000', '1970-01-01T00:00:01Z'],
    ['big-integer', '255', '0000000600ff', '255'],
    ['tuple-1', '-1', 'ffffffffffffffff', [-1]],
    ['tuple-2', '["a",1]', '026100000001', ['a', 1]],
    ['pojo-point', '{"x":1}', '02000000000101', { x: 1, y: null }],
    ['void-namespace', 'null', '00', null],
  ])('of a serializer of %s: %s', (name, text, bytes, value) => {
    const key = encodeKey(serializer(name), text);
    expect(hexOf(key.bytes)).toBe(bytes);
    expect(key.value).toEqual(value);
  });

  it('is hashed as in Java', () => {
    // "orders-s0-k0" is in key group 20 of 128 throughout the corpus.
    const { hashCode } = encodeKey(serializer('string'), 'orders-s0-k0');
    expect(hashCode).toBeDefined();
    expect(keyGroupOf(hashCode ?? 0, 128)).toBe(20);
    expect(encodeKey(serializer('enum'), 'RED').hashCode).toBeUndefined();
  });

  it.each([
    ['int', '2147483648'],
    ['int', '1.5'],
    ['int', 'x'],
    ['byte', '128'],
    ['long', '9223372036854775808'],
    ['local-date', '2023-02-29'],
    ['local-time', '24:00'],
    ['enum', 'YELLOW'],
    ['boolean', '1'],
    ['tuple-2', '["a"]'],
    ['tuple-2', '["a","b"]'],
    ['tuple-2', 'a'],
    ['pojo-point', '{"z":1}'],
    ['map', '[]'],
    ['avro', '{}'],
    ['sql-numbers', '[1,2]'],
  ])('of a serializer of %s cannot be %s', (name, text) => {
    expect(() => encodeKey(serializer(name), text)).toThrow(UnwritableValueError);
  });
});
