import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteFormatError } from '../../src/bytes/byte-format-error.js';
import { ByteReader } from '../../src/bytes/byte-reader.js';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { floatValue } from '../../src/format/value/numbers.js';
import { serializerOf } from '../../src/format/value/serializer-of.js';
import {
  type StateValue,
  UndecodableValueError,
  type ValueSerializer,
} from '../../src/format/value/value-serializer.js';
import { flinkValues, snapshotOf } from '../support/flink-values.js';

const FLINK = flinkValues();
const serializer = (name: string): ValueSerializer => {
  const found = FLINK.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return serializerOf(snapshotOf(found));
};

/** How many values stand in a value. */
function sizeOf(value: StateValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const item of Object.values(value as Record<string, StateValue>)) size += sizeOf(item);
  return size;
}

describe.each(FLINK.map((flink) => [flink.name, flink] as const))('damaged bytes of %s', (_name, flink) => {
  it('end in an error with an offset, or are a value no larger than they', () => {
    const values = serializerOf(snapshotOf(flink));
    const originals = flink.values
      .map(({ bytes }) => Buffer.from(bytes, 'base64'))
      .filter(({ length }) => length < 2000);
    fc.assert(
      fc.property(
        fc.constantFrom(...originals),
        fc.array(fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) }), { maxLength: 4 }),
        fc.nat(),
        fc.uint8Array({ maxLength: 40 }),
        (original, changes, cut, more) => {
          const bytes = Buffer.concat([original.subarray(0, original.length - (cut % 5 === 0 ? cut % 7 : 0)), more]);
          for (const { at, byte } of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
          for (const use of ['read', 'skip', 'hash'] as const) {
            if (use === 'hash' && values.unhashable !== undefined) continue;
            const reader = ByteReader.over(bytes);
            try {
              const result = values[use](reader);
              expect(reader.position).toBeLessThanOrEqual(bytes.length);
              if (use === 'read') expect(sizeOf(result as StateValue)).toBeLessThan(400 + 100 * bytes.length);
            } catch (error) {
              // The name of a subclass may have become another one.
              if (error instanceof UndecodableValueError && flink.name.startsWith('pojo')) continue;
              expect(error).toBeInstanceOf(ByteFormatError);
              expect((error as ByteFormatError).offset).toBeLessThanOrEqual(bytes.length);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('what is written is read again', () => {
  const cycle = (values: ValueSerializer, value: StateValue): StateValue => {
    const writer = new ByteWriter();
    values.write(value, writer);
    const reader = ByteReader.over(writer.drain());
    const read = values.read(reader);
    expect(reader.remaining).toBe(0);
    reader.position = 0;
    values.skip(reader);
    expect(reader.remaining).toBe(0);
    return read;
  };

  it('strings of any UTF-16 units', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 });
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        expect(cycle(serializer('string'), text)).toBe(text);
        const hash = codes.reduce((sum, unit) => (Math.imul(31, sum) + unit) | 0, 0);
        const writer = new ByteWriter();
        serializer('string').write(text, writer);
        expect(serializer('string').hash(ByteReader.over(writer.drain()))).toBe(hash);
      }),
    );
  });

  it('floats, as the shortest number that means the same', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Math.fround(Number(floatValue(value)))).toBe(value);
      }),
    );
  });

  it('whole and decimal numbers of any size', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(1n << 400n), max: 1n << 400n }),
        fc.integer({ min: -300, max: 300 }),
        (n, scale) => {
          expect(cycle(serializer('big-integer'), n.toString())).toBe(n.toString());
          const text = `${n}E${scale}`;
          const once = cycle(serializer('big-decimal'), text);
          expect(cycle(serializer('big-decimal'), once)).toBe(once);
        },
      ),
    );
  });

  it('dates and times', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), fc.nat({ max: 999_999 }), (date, nanos) => {
        const instant = date.toISOString().replace(/^[+-]\d\d(?=\d{4}-)/, '');
        expect(cycle(serializer('date'), date.getTime())).toMatch(/Z$/);
        const fraction = `${instant.slice(0, -1)}${String(nanos).padStart(6, '0')}Z`
          .replace(/(000){1,3}Z$/, 'Z')
          .replace(/\.Z$/, 'Z');
        expect(cycle(serializer('instant'), fraction)).toBe(fraction);
      }),
    );
  });

  it('rows of SQL', () => {
    const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }));
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const row = { kind: '-U', fields: [a, b, c, null, null, null] };
        expect(cycle(serializer('sql-texts'), row)).toEqual(row);
      }),
    );
  });
});
