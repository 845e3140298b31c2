/** Serializers of Flink SQL. Origin: `org.apache.flink.table.runtime.typeutils`. */
import type { ByteReader } from '../../../bytes/byte-reader.js';
import type { ByteWriter } from '../../../bytes/byte-writer.js';
import { bigIntOf, bytesOfBigInt, parseBigDecimal, plainDecimalText } from '../big-numbers.js';
import { makeSerializer } from '../derived.js';
import { hashBytesByWords } from '../murmur-words.js';
import { longValue } from '../numbers.js';
import { typeText } from '../type-description.js';
import type { StateValue, ValueSerializer } from '../value-serializer.js';
import { BinarySection, MAX_COMPACT_PRECISION, MAX_COMPACT_TIMESTAMP, timestampText } from './binary-section.js';
import { unwritableSqlType, writeBinaryRow } from './binary-writer.js';
import type { SqlType } from './logical-type.js';

/** Bytes with their 32-bit length in front, as a section; the reader is stepped over them. */
function readSection(reader: ByteReader, reading: string): BinarySection {
  const size = reader.readCount(`size of ${reading}`, 1);
  const start = reader.take(size, reading);
  return new BinarySection(reader, start, start + size);
}

const skipSection = (reader: ByteReader): void => {
  reader.take(reader.readCount('size of a value', 1), 'a value');
};

/** A row: `{kind, fields}`. The hash is that of its bytes, as for the keys that Flink's generated code makes. */
export function rowDataSerializer(types: readonly SqlType[]): ValueSerializer {
  const description = {
    kind: 'row-data',
    fields: types.map(({ text }) => ({ name: undefined, sqlType: text })),
  } as const;
  const type = typeText(description);
  const unwritable = types.map(unwritableSqlType).find((reason) => reason !== undefined);
  return makeSerializer({
    type,
    description,
    read: (reader) => readSection(reader, 'a row').readRow(types),
    skip: skipSection,
    hash(reader) {
      const { start, end } = readSection(reader, 'a row');
      return hashBytesByWords(reader.buffer, start, end);
    },
    ...(unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            const bytes = writeBinaryRow(types, type, value);
            writer.writeI32(bytes.length);
            writer.writeBytes(bytes);
            return true;
          },
        }
      : { unwritable }),
  });
}

/** An array, map or multiset. */
export function sqlCollectionSerializer(type: SqlType & { readonly kind: 'array' | 'map' }): ValueSerializer {
  return makeSerializer({
    type: type.text,
    description: { kind: 'sql', sqlType: type.text },
    read(reader) {
      const section = readSection(reader, type.text);
      return type.kind === 'array' ? section.readArray(type.element) : section.readMap(type.key, type.value);
    },
    skip: skipSection,
  });
}

/** A string of SQL: UTF-8 with its length. */
export const STRING_DATA: ValueSerializer = makeSerializer({
  type: 'STRING',
  description: { kind: 'sql', sqlType: 'STRING' },
  read: (reader) => readSection(reader, 'a string').text('utf8'),
  skip: skipSection,
  write(value, writer) {
    if (typeof value !== 'string') return false;
    const bytes = Buffer.from(value, 'utf8');
    writer.writeI32(bytes.length);
    writer.writeBytes(bytes);
    return true;
  },
});

/** A value of another class, as the class writes it: `{"@raw": bytes}`. */
export function rawValueSerializer(inner: ValueSerializer): ValueSerializer {
  const sqlType = `RAW<${inner.type}>`;
  return makeSerializer({
    type: sqlType,
    description: { kind: 'sql', sqlType },
    read: (reader) => ({ '@raw': readSection(reader, 'a raw value').text('base64') }),
    skip: skipSection,
  });
}

/** A decimal number: a long, or bytes where more digits are allowed. */
export function decimalDataSerializer(precision: number, scale: number): ValueSerializer {
  const sqlType = `DECIMAL(${precision}, ${scale})`;
  const compact = precision <= MAX_COMPACT_PRECISION;
  const readUnscaled = (reader: ByteReader): bigint => {
    if (compact) return reader.readBigInt64(sqlType);
    const { start, end } = readSection(reader, sqlType);
    return bigIntOf(reader.buffer.subarray(start, end));
  };
  return makeSerializer({
    type: sqlType,
    description: { kind: 'sql', sqlType },
    read: (reader) => plainDecimalText(readUnscaled(reader), scale),
    skip: (reader) => (compact ? void reader.take(8, sqlType) : skipSection(reader)),
    write(value, writer) {
      const number = parseBigDecimal(value);
      if (number === undefined || number.scale > scale) return false;
      const unscaled = number.unscaled * 10n ** BigInt(Math.min(scale - number.scale, 100));
      if ((unscaled < 0n ? -unscaled : unscaled) >= 10n ** BigInt(precision)) return false;
      if (compact) {
        writer.writeI64(unscaled);
        return true;
      }
      const bytes = bytesOfBigInt(unscaled);
      writer.writeI32(bytes.length);
      writer.writeBytes(bytes);
      return true;
    },
  });
}

/** A time in milliseconds, and nanoseconds where there are more than three digits. */
export function timestampDataSerializer(precision: number): ValueSerializer {
  const sqlType = `TIMESTAMP(${precision})`;
  const compact = precision <= MAX_COMPACT_TIMESTAMP;
  return makeSerializer({
    type: sqlType,
    description: { kind: 'sql', sqlType },
    length: compact ? 8 : 12,
    read(reader) {
      const millis = reader.readBigInt64(sqlType);
      if (compact) return timestampText(millis, 0);
      const at = reader.offset;
      const nanos = reader.readI32('nanoseconds of a millisecond');
      if (nanos < 0 || nanos > 999_999) reader.fail('nanoseconds of a millisecond', `${nanos}`, at);
      return timestampText(millis, nanos);
    },
    skip: (reader) => void reader.take(compact ? 8 : 12, sqlType),
  });
}

/** A row under the window it belongs to: `{window, key}`. */
export function windowKeySerializer(key: ValueSerializer): ValueSerializer {
  const description = { kind: 'composite', name: 'WindowKey', parts: [key.description] } as const;
  return makeSerializer({
    type: typeText(description),
    description,
    undecodable: key.undecodable,
    read(reader, end) {
      reader.readI64('window of a key');
      const window = longValue(reader.high, reader.low);
      return { window, key: key.read(reader, end) };
    },
    skip(reader, end) {
      reader.take(8, 'window of a key');
      key.skip(reader, end);
    },
  });
}
