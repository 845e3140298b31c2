import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../src/bytes/byte-reader.js';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { serializerOf } from '../../src/format/value/serializer-of.js';
import { flinkValues, snapshotOf } from '../support/flink-values.js';

const ALL = flinkValues();

/** Types whose hash code Java, or Flink, does not define by the value. */
const HASHED = new Set(
  'boolean byte short int long float double char string void-namespace big-integer big-decimal date sql-date sql-time sql-timestamp instant local-date local-time local-date-time list list-of-longs list-of-lists array-list linked-list set map null-aware-map tuple-0 tuple-1 tuple-2 tuple-fixed tuple-nested tuple-25 either nullable nullable-padded row row-without-kind row-of-nothing sql-numbers sql-texts sql-times sql-nested sql-nested-decimals sql-70-fields sql-no-fields sql-raw sql-structured'.split(
    ' ',
  ),
);

/** Types of which values can be written: what can be a key. */
const WRITTEN = new Set(
  'boolean byte short int long float double char string void void-namespace null big-integer big-decimal date sql-date sql-time sql-timestamp instant local-date local-time local-date-time enum time-window global-window count-window sql-time-window bytes booleans chars shorts ints longs floats doubles strings boxed-longs boxed-ints list list-of-longs list-of-lists array-list linked-list set tuple-0 tuple-1 tuple-2 tuple-fixed tuple-nested tuple-25 either nullable nullable-padded row row-without-kind row-of-nothing timer timer-fixed pojo pojo-point sql-numbers sql-texts sql-times sql-70-fields sql-no-fields sql-structured string-data decimal-data decimal-data-large'.split(
    ' ',
  ),
);

/**
 * Rows of nulls that have room for what is null, as Flink's generated code writes keys; its serializer, which wrote these,
 * leaves none.
 */
function isNullRow(name: string, value: unknown): boolean {
  return /^sql-(numbers|times)$/.test(name) && /"fields":\[null,null/.test(JSON.stringify(value));
}

describe.each(ALL)('$name', (flink) => {
  const serializer = serializerOf(snapshotOf(flink));

  it('has the length that Flink says', () => {
    expect(serializer.length ?? -1).toBe(flink.length);
    expect(serializer.undecodable).toBeUndefined();
  });

  it('reads and steps over what Flink wrote', () => {
    for (const { bytes, value } of flink.values) {
      const all = Buffer.concat([Buffer.from(bytes, 'base64'), Buffer.of(0x5a)]);
      const reader = ByteReader.over(all);
      expect(serializer.read(reader)).toEqual(value);
      expect(reader.remaining).toBe(1);
      reader.position = 0;
      serializer.skip(reader);
      expect(reader.remaining).toBe(1);
    }
  });

  if (HASHED.has(flink.name)) {
    it('hashes as Java does', () => {
      expect(serializer.unhashable).toBeUndefined();
      for (const { bytes, hash, value } of flink.values) {
        const reader = ByteReader.over(Buffer.from(bytes, 'base64'));
        expect([value, serializer.hash(reader)]).toEqual([value, hash ?? 0]);
        expect(reader.remaining).toBe(0);
      }
    });
  } else {
    it('knows of no hash code, or has no value to hash', () => {
      expect(serializer.unhashable === undefined).toBe(flink.name === 'void' || flink.name === 'null');
    });
  }

  if (WRITTEN.has(flink.name)) {
    it('writes the same bytes', () => {
      expect(serializer.unwritable).toBeUndefined();
      for (const { bytes, value } of flink.values) {
        // Another kind of NaN, and a subclass, are more than the JSON tells.
        if (JSON.stringify(value).includes('@class')) continue;
        const writer = new ByteWriter();
        serializer.write(value, writer);
        const written = Buffer.from(writer.drain()).toString('base64');
        const back = serializer.read(ByteReader.over(Buffer.from(written, 'base64')));
        if (value === 'NaN' || isNullRow(flink.name, value)) expect(back).toEqual(value);
        else expect([value, written]).toEqual([value, bytes]);
      }
    });
  } else {
    it('says why it cannot write', () => {
      expect(serializer.unwritable).toMatch(/./);
    });
  }
});

it('are all kinds', () => {
  expect(ALL.length).toBeGreaterThanOrEqual(80);
  for (const name of [...HASHED, ...WRITTEN]) expect(ALL.map((flink) => flink.name)).toContain(name);
});
