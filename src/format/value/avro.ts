/**
 * Avro records as Flink writes them: not in Avro's own encoding, but numbers of fixed length, and blocks of arrays and maps
 * with a count of seven bits a byte. The schema stands in the snapshot. Origin: Flink `DataInputDecoder`, `AvroSerializer`.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { readBytes, skipBytes } from './arrays.js';
import { type AvroType, parseAvroSchema } from './avro-schema.js';
import { checkProgress } from './collections.js';
import { makeSerializer } from './derived.js';
import { dateOfEpochDay, dateText, dateTimeText, instantText, timeOfDayText } from './iso-time.js';
import { doubleValue, floatValue, longValue } from './numbers.js';
import { opaqueSerializer } from './opaque.js';
import { setField } from './records.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

/** Records inside each other; a schema can contain itself. */
const MAX_DEPTH = 500;
const GENERIC_RECORD = 'org.apache.avro.generic.GenericRecord';

/**
 * The serializer of an Avro type.
 * @param javaClass of the records: those of a generated class have times where generic ones have numbers
 * @param schema its JSON; null if the snapshot has none
 */
export function avroSerializer(javaClass: string, schema: string | null): ValueSerializer {
  const parsed = schema === null ? undefined : parseAvroSchema(schema);
  if (parsed === undefined) {
    return opaqueSerializer({ type: `Avro ${javaClass}`, javaClass, serializer: 'AvroSerializer' });
  }
  const values = new AvroValues(javaClass !== GENERIC_RECORD && javaClass !== '');
  const name = parsed.type.kind === 'record' ? parsed.type.name : parsed.type.kind;
  return makeSerializer({
    type: `Avro ${name}`,
    description: { kind: 'avro', javaClass, name: `Avro ${name}`, schema },
    read: (reader) => values.read(parsed.type, reader, 0),
    skip: (reader) => values.skip(parsed.type, reader, 0),
    unhashable: 'the hash code of an Avro record depends on its class',
  });
}

/** A count of elements: seven bits a byte, low ones first. */
function readBlockCount(reader: ByteReader): number {
  const at = reader.offset;
  let value = 0;
  for (let scale = 1; scale < Number.MAX_SAFE_INTEGER; scale *= 0x80) {
    const byte = reader.readU8('number of elements');
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) break;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : reader.fail('number of elements', `${value}`, at);
}

/** See the file comment. */
class AvroValues {
  constructor(private readonly withTimes: boolean) {}

  read(type: AvroType, reader: ByteReader, depth: number): StateValue {
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean':
        return reader.readU8('a boolean') !== 0;
      case 'int':
        return this.intValue(reader.readI32('an int'), type.logicalType);
      case 'long':
        return this.readLong(reader, type.logicalType);
      case 'float':
        return floatValue(reader.readF32('a float'));
      case 'double':
        return doubleValue(reader.readF64('a double'));
      case 'string': {
        const length = reader.readCount('length of a string', 1);
        const start = reader.take(length, 'a string');
        return reader.buffer.toString('utf8', start, start + length);
      }
      case 'bytes':
        return readBytes(reader);
      case 'fixed': {
        const start = reader.take(type.size, 'a fixed value');
        return reader.buffer.toString('base64', start, start + type.size);
      }
      case 'enum':
        return this.choose(type.symbols, reader, `symbol of ${type.name}`);
      default:
        return this.readNested(type, reader, depth + 1);
    }
  }

  private choose<T>(choices: readonly T[], reader: ByteReader, what: string): T {
    const at = reader.offset;
    const index = reader.readI32(what);
    return choices[index] ?? reader.fail(`${what} (below ${choices.length})`, `${index}`, at);
  }

  private readNested(type: AvroType, reader: ByteReader, depth: number): StateValue {
    if (depth > MAX_DEPTH) reader.fail('an Avro record', `more than ${MAX_DEPTH} inside each other`);
    switch (type.kind) {
      case 'record': {
        const record: Record<string, StateValue> = {};
        for (const field of type.fields) setField(record, field.name, this.read(field.type, reader, depth));
        return record;
      }
      case 'array': {
        const items: StateValue[] = [];
        const start = reader.position;
        for (let count = readBlockCount(reader); count > 0; count = readBlockCount(reader)) {
          for (let i = 0; i < count; i++) {
            items.push(this.read(type.items, reader, depth));
            checkProgress(reader, start, items.length);
          }
        }
        return items;
      }
      case 'map':
        return this.readMap(type.values, reader, depth);
      case 'union':
        return this.read(this.choose(type.branches, reader, 'branch of a union'), reader, depth);
      default:
        return null;
    }
  }

  /** Sorted by key: Java's order is arbitrary. */
  private readMap(values: AvroType, reader: ByteReader, depth: number): StateValue {
    const entries = new Map<string, StateValue>();
    for (let count = readBlockCount(reader); count > 0; count = readBlockCount(reader)) {
      for (let i = 0; i < count; i++) {
        const length = reader.readCount('length of a key', 1);
        const start = reader.take(length, 'a key');
        entries.set(reader.buffer.toString('utf8', start, start + length), this.read(values, reader, depth));
      }
    }
    const map: Record<string, StateValue> = {};
    for (const key of [...entries.keys()].sort()) setField(map, key, entries.get(key) ?? null);
    return map;
  }

  private intValue(value: number, logicalType: string | undefined): StateValue {
    if (!this.withTimes) return value;
    if (logicalType === 'date') return dateText(dateOfEpochDay(value));
    return logicalType === 'time-millis' ? timeText(BigInt(value) * 1_000_000n, value) : value;
  }

  private readLong(reader: ByteReader, logicalType: string | undefined): StateValue {
    reader.readI64('a long');
    const plain = longValue(reader.high, reader.low);
    const nanosEach = this.withTimes ? NANOS_EACH[logicalType ?? ''] : undefined;
    if (nanosEach === undefined) return plain;
    const nanos = ((BigInt(reader.high) << 32n) | BigInt(reader.low)) * nanosEach;
    if (logicalType === 'time-micros') return timeText(nanos, plain);
    const part = ((nanos % NANOS_OF_SECOND) + NANOS_OF_SECOND) % NANOS_OF_SECOND;
    const seconds = Number((nanos - part) / NANOS_OF_SECOND);
    const isLocal = logicalType?.startsWith('local-') === true;
    return isLocal ? dateTimeText(seconds, Number(part)) : instantText(seconds, Number(part));
  }

  /** Steps over a value: strings, bytes and arrays are not made. */
  skip(type: AvroType, reader: ByteReader, depth: number): void {
    if (depth > MAX_DEPTH) reader.fail('an Avro record', `more than ${MAX_DEPTH} inside each other`);
    switch (type.kind) {
      case 'null':
        return;
      case 'string':
      case 'bytes':
        skipBytes(reader);
        return;
      case 'fixed':
        reader.take(type.size, 'a fixed value');
        return;
      case 'record':
        for (const field of type.fields) this.skip(field.type, reader, depth + 1);
        return;
      case 'union':
        this.skip(this.choose(type.branches, reader, 'branch of a union'), reader, depth + 1);
        return;
      case 'array':
      case 'map': {
        const start = reader.position;
        let elements = 0;
        for (let count = readBlockCount(reader); count > 0; count = readBlockCount(reader)) {
          for (let i = 0; i < count; i++) {
            if (type.kind === 'map') skipBytes(reader);
            this.skip(type.kind === 'map' ? type.values : type.items, reader, depth + 1);
            checkProgress(reader, start, ++elements);
          }
        }
        return;
      }
      default:
        this.read(type, reader, depth);
    }
  }
}

const NANOS_OF_SECOND = 1_000_000_000n;
const NANOS_OF_DAY = 86_400n * NANOS_OF_SECOND;

/** Nanoseconds of one of a logical type that is a long. */
const NANOS_EACH: Readonly<Record<string, bigint>> = {
  'time-micros': 1000n,
  'timestamp-millis': 1_000_000n,
  'timestamp-micros': 1000n,
  'timestamp-nanos': 1n,
  'local-timestamp-millis': 1_000_000n,
  'local-timestamp-micros': 1000n,
  'local-timestamp-nanos': 1n,
};

/** A time of day; a number out of that range stays one. */
function timeText(nanos: bigint, plain: StateValue): StateValue {
  if (nanos < 0n || nanos >= NANOS_OF_DAY) return plain;
  return timeOfDayText(Number(nanos / NANOS_OF_SECOND), Number(nanos % NANOS_OF_SECOND));
}
