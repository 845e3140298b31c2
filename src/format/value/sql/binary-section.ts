/**
 * Rows, arrays and maps of Flink SQL in their binary form. Numbers are in the byte order of the machine that wrote them, which
 * here is taken to be little-endian. Origin: Flink `BinaryRowData`, `BinaryArrayData`, `BinaryMapData`, `BinarySegmentUtils`.
 */
import type { ByteReader } from '../../../bytes/byte-reader.js';
import { bigIntOf, plainDecimalText } from '../big-numbers.js';
import { dateOfEpochDay, dateText, dateTimeText, timeOfDayText } from '../iso-time.js';
import { doubleValue, floatValue, longValue } from '../numbers.js';
import { rowKindText } from '../records.js';
import type { StateValue } from '../value-serializer.js';
import type { SqlType } from './logical-type.js';

/** Digits of a decimal that fits a long. */
export const MAX_COMPACT_PRECISION = 18;
/** Digits of a second that milliseconds have. */
export const MAX_COMPACT_TIMESTAMP = 3;
/** Kind of change, before the null bits. */
export const ROW_HEADER_BITS = 8;

/** Bytes of the null bits of a row, with its header. */
export function rowHeaderBytes(fields: number): number {
  return Math.floor((fields + 63 + ROW_HEADER_BITS) / 64) * 8;
}

/** Bytes of the count and the null bits of an array. */
export function arrayHeaderBytes(elements: number): number {
  return 4 + Math.floor((elements + 31) / 32) * 4;
}

/** Bytes of an element of an array in its fixed part. */
export function elementBytes(type: SqlType): 1 | 2 | 4 | 8 {
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
      return 1;
    case 'smallint':
      return 2;
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'months':
      return 4;
    default:
      return 8;
  }
}

/**
 * A range of the reader's buffer that has been checked to be there, and what stands in it. Its parts of variable length do not
 * overlap: together they have no more bytes than it, so that no crafted row is larger in memory than its bytes allow.
 */
export class BinarySection {
  /** Bytes that its parts of variable length may still have. */
  private left: number;

  constructor(
    private readonly reader: ByteReader,
    readonly start: number,
    readonly end: number,
  ) {
    this.left = end - start;
  }

  /** Makes sure that [at, at + bytes) lies inside. `from` is the index of what says so. */
  private need(at: number, bytes: number, reading: string, from = at): void {
    if (bytes >= 0 && at >= this.start && at + bytes <= this.end) return;
    const found = `${bytes} bytes from its byte ${at - this.start} on`;
    this.fail(from, `${reading} within the ${this.end - this.start} bytes of a row, array or map`, found);
  }

  private fail(at: number, reading: string, found: string): never {
    const { reader } = this;
    return reader.fail(reading, found, reader.offset - reader.position + at);
  }

  private sub(at: number, bytes: number, reading: string, from: number): BinarySection {
    this.need(at, bytes, reading, from);
    this.left -= bytes;
    if (this.left < 0)
      this.fail(from, 'values that do not overlap', `more than ${this.end - this.start} bytes of them`);
    return new BinarySection(this.reader, at, at + bytes);
  }

  /** `{kind, fields}`. */
  readRow(types: readonly SqlType[]): StateValue {
    const { buffer } = this.reader;
    const { start } = this;
    const header = rowHeaderBytes(types.length);
    this.need(start, header + 8 * types.length, 'the fields of a row');
    const kind = rowKindText(buffer[start] as number);
    if (kind === undefined) this.fail(start, 'the kind of a row (0 to 3)', `${buffer[start]}`);
    const fields: StateValue[] = [];
    for (let i = 0; i < types.length; i++) {
      const bit = ROW_HEADER_BITS + i;
      const isNull = (((buffer[start + (bit >> 3)] as number) >> (bit & 7)) & 1) === 1;
      fields.push(isNull ? null : this.readSlot(types[i] as SqlType, start + header + 8 * i));
    }
    return { kind, fields };
  }

  readArray(type: SqlType): StateValue[] {
    const { start } = this;
    this.need(start, 4, 'the number of elements');
    const { buffer } = this.reader;
    const count = buffer.readInt32LE(start);
    const header = arrayHeaderBytes(count);
    const bytesEach = elementBytes(type);
    if (count < 0) this.fail(start, 'the number of elements', `${count}`);
    this.need(start, header + bytesEach * count, 'the elements of an array');
    const values: StateValue[] = [];
    for (let i = 0; i < count; i++) {
      const isNull = (((buffer[start + 4 + (i >> 3)] as number) >> (i & 7)) & 1) === 1;
      values.push(isNull ? null : this.readSlot(type, start + header + bytesEach * i));
    }
    return values;
  }

  /** `{key, value}` each. */
  readMap(key: SqlType, value: SqlType): StateValue[] {
    const { start, end } = this;
    this.need(start, 4, 'the size of the keys of a map');
    const size = this.reader.buffer.readInt32LE(start);
    const keys = this.sub(start + 4, size, 'the keys of a map', start).readArray(key);
    const values = this.sub(start + 4 + size, end - start - 4 - size, 'the values of a map', start).readArray(value);
    if (keys.length !== values.length) {
      this.fail(start, `as many values of a map as keys (${keys.length})`, `${values.length}`);
    }
    return keys.map((item, i) => ({ key: item, value: values[i] ?? null }));
  }

  /** What `offset` and `size`, the two halves of a slot, point at: relative to the start of this. */
  private variablePart(slot: number): BinarySection {
    const { buffer } = this.reader;
    const size = buffer.readInt32LE(slot);
    const offset = buffer.readInt32LE(slot + 4);
    return this.sub(this.start + offset, size, 'a value of variable length', slot);
  }

  /** Of strings and bytes: up to seven stand in the slot itself. */
  private bytesIn(slot: number): BinarySection {
    const last = this.reader.buffer[slot + 7] as number;
    if (last < 0x80) return this.variablePart(slot);
    const size = last & 0x7f;
    if (size > 7) this.fail(slot, 'a value of at most 7 bytes in place', `${size} bytes`);
    return new BinarySection(this.reader, slot, slot + size);
  }

  text(encoding: 'utf8' | 'base64'): string {
    return this.reader.buffer.toString(encoding, this.start, this.end);
  }

  private readSlot(type: SqlType, slot: number): StateValue {
    const { buffer } = this.reader;
    switch (type.kind) {
      case 'boolean':
        return buffer[slot] !== 0;
      case 'tinyint':
        return buffer.readInt8(slot);
      case 'smallint':
        return buffer.readInt16LE(slot);
      case 'int':
      case 'months':
        return buffer.readInt32LE(slot);
      case 'date':
        return dateText(dateOfEpochDay(buffer.readInt32LE(slot)));
      case 'time':
        return timeValue(buffer.readInt32LE(slot));
      case 'bigint':
      case 'millis':
        return longValue(buffer.readInt32LE(slot + 4), buffer.readUInt32LE(slot));
      case 'float':
        return floatValue(buffer.readFloatLE(slot));
      case 'double':
        return doubleValue(buffer.readDoubleLE(slot));
      case 'string':
        return this.bytesIn(slot).text('utf8');
      case 'bytes':
        return this.bytesIn(slot).text('base64');
      case 'decimal':
        return plainDecimalText(this.unscaled(type.precision, slot), type.scale);
      case 'timestamp':
        return this.timestamp(type.precision, slot);
      case 'null':
        return null;
      default:
        return this.readNested(type, slot);
    }
  }

  private readNested(type: SqlType, slot: number): StateValue {
    switch (type.kind) {
      case 'array':
        return this.variablePart(slot).readArray(type.element);
      case 'map':
        return this.variablePart(slot).readMap(type.key, type.value);
      case 'row':
        return this.variablePart(slot).readRow(type.fields.map((field) => field.type));
      case 'raw':
        return { '@raw': this.variablePart(slot).text('base64') };
      default:
        return { '@opaque': type.text, serializer: 'BinaryRowData', bytes: this.bytesIn(slot).text('base64') };
    }
  }

  private unscaled(precision: number, slot: number): bigint {
    const { buffer } = this.reader;
    if (precision <= MAX_COMPACT_PRECISION) return buffer.readBigInt64LE(slot);
    // As Java does: high bytes first, whatever the machine.
    const { start, end } = this.variablePart(slot);
    return bigIntOf(buffer.subarray(start, end));
  }

  private timestamp(precision: number, slot: number): string {
    const { buffer } = this.reader;
    if (precision <= MAX_COMPACT_TIMESTAMP) return timestampText(buffer.readBigInt64LE(slot), 0);
    // The slot has the nanoseconds within the millisecond in place of a size.
    const nanos = buffer.readInt32LE(slot);
    const at = this.start + buffer.readInt32LE(slot + 4);
    this.need(at, 8, 'a timestamp', slot);
    if (nanos < 0 || nanos > 999_999) this.fail(slot, 'nanoseconds of a millisecond', `${nanos}`);
    return timestampText(buffer.readBigInt64LE(at), nanos);
  }
}

const DAY_MILLIS = 86_400_000;

/** Milliseconds of a day as a time; a number out of that range stays one. */
function timeValue(millis: number): string | number {
  if (millis < 0 || millis >= DAY_MILLIS) return millis;
  return timeOfDayText(Math.floor(millis / 1000), (millis % 1000) * 1_000_000);
}

/** `TimestampData.toString`: a date with a time, without zone. */
export function timestampText(millis: bigint, nanosOfMilli: number): string {
  const part = ((millis % 1000n) + 1000n) % 1000n;
  return dateTimeText(Number((millis - part) / 1000n), Number(part) * 1_000_000 + nanosOfMilli);
}
