/** Dates and times of Java, old and new. Origin: the serializers of the same names in Flink's `typeutils.base`. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { makeSerializer, type SerializerParts } from './derived.js';
import {
  type CivilDate,
  type CivilTime,
  dateText,
  epochDayOf,
  farInstantText,
  instantText,
  parseDate,
  parseDateTime,
  parseTime,
  timeText,
} from './iso-time.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

const TWO_32 = 0x1_0000_0000;
const LONG_MIN_HIGH = -0x8000_0000;
const INT_MIN = -0x8000_0000;
const BYTE_MIN = -0x80;
/** What `java.time.Instant` can hold, in seconds. */
const MAX_INSTANT_SECONDS = 31_556_889_864_403_199n;
const MIN_INSTANT_SECONDS = -31_557_014_167_219_200n;

function fixed(parts: SerializerParts & { readonly length: number }): ValueSerializer {
  return makeSerializer({ skip: (reader) => void reader.take(parts.length, parts.type), ...parts });
}

/** The text of a time in milliseconds, in two words; null is the least `long`. */
function millisText(high: number, low: number): string | null {
  if (high === LONG_MIN_HIGH && low === 0) return null;
  const millis = high * TWO_32 + low;
  if (Number.isSafeInteger(millis)) {
    const seconds = Math.floor(millis / 1000);
    return instantText(seconds, (millis - seconds * 1000) * 1_000_000);
  }
  const exact = (BigInt(high) << 32n) | BigInt(low);
  const part = ((exact % 1000n) + 1000n) % 1000n;
  return farInstantText((exact - part) / 1000n, Number(part) * 1_000_000);
}

/** `Date.hashCode`; of null, 0. */
function hashMillis(high: number, low: number): number {
  return high === LONG_MIN_HIGH && low === 0 ? 0 : high ^ low;
}

/** Milliseconds after the epoch of an instant in ISO form, or as a number. */
function parseMillis(value: StateValue): bigint | undefined {
  if (value === null) return -(1n << 63n);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== 'string' || !value.endsWith('Z')) return undefined;
  const parsed = parseDateTime(value.slice(0, -1));
  if (parsed === undefined || parsed.nanos % 1_000_000 !== 0) return undefined;
  return parsed.seconds * 1000n + BigInt(parsed.nanos / 1_000_000);
}

/** `java.util.Date` and the two of `java.sql` that are nothing else. */
const dateSerializer = (type: string): ValueSerializer =>
  fixed({
    type,
    length: 8,
    read(reader) {
      reader.readI64(type);
      return millisText(reader.high, reader.low);
    },
    hash(reader) {
      reader.readI64(type);
      return hashMillis(reader.high, reader.low);
    },
    write(value, writer) {
      const millis = parseMillis(value);
      if (millis === undefined) return false;
      writer.writeI64(millis);
      return true;
    },
  });

export const DATE: ValueSerializer = dateSerializer('java.util.Date');
export const SQL_DATE: ValueSerializer = dateSerializer('java.sql.Date');
export const SQL_TIME: ValueSerializer = dateSerializer('java.sql.Time');

/** The time is printed in milliseconds, as for the other old dates, and to the nanosecond where there is more. */
export const SQL_TIMESTAMP: ValueSerializer = fixed({
  type: 'java.sql.Timestamp',
  length: 12,
  read(reader) {
    reader.readI64('a Timestamp');
    const { high, low } = reader;
    const nanos = readNanos(reader);
    const text = millisText(high, low);
    if (text === null || nanos % 1_000_000 === 0) return text;
    const digits = String(nanos).padStart(9, '0');
    return `${text.replace(/(\.\d+)?Z$/, '')}.${digits.endsWith('000') ? digits.slice(0, 6) : digits}Z`;
  },
  hash(reader) {
    reader.readI64('a Timestamp');
    reader.take(4, 'nanoseconds of a Timestamp');
    return hashMillis(reader.high, reader.low);
  },
  write(value, writer) {
    if (value === null) {
      writer.writeI64(-(1n << 63n));
      writer.writeI32(0);
      return true;
    }
    if (typeof value !== 'string' || !value.endsWith('Z')) return false;
    const parsed = parseDateTime(value.slice(0, -1));
    if (parsed === undefined) return false;
    writer.writeI64(parsed.seconds * 1000n + BigInt(Math.floor(parsed.nanos / 1_000_000)));
    writer.writeI32(parsed.nanos);
    return true;
  },
});

function readNanos(reader: ByteReader): number {
  const at = reader.offset;
  const nanos = reader.readI32('nanoseconds');
  return nanos >= 0 && nanos < 1_000_000_000 ? nanos : reader.fail('nanoseconds', `${nanos}`, at);
}

export const INSTANT: ValueSerializer = fixed({
  type: 'Instant',
  length: 12,
  read(reader) {
    const at = reader.offset;
    reader.readI64('seconds of an Instant');
    const { high, low } = reader;
    if (high === LONG_MIN_HIGH && low === 0) {
      reader.take(4, 'nanoseconds of an Instant');
      return null;
    }
    const seconds = high * TWO_32 + low;
    if (seconds > Number(MAX_INSTANT_SECONDS) || seconds < Number(MIN_INSTANT_SECONDS)) {
      reader.fail('seconds of an Instant', `${seconds}`, at);
    }
    const nanos = readNanos(reader);
    if (Number.isSafeInteger(seconds)) return instantText(seconds, nanos);
    return farInstantText((BigInt(high) << 32n) | BigInt(low), nanos);
  },
  hash(reader) {
    reader.readI64('seconds of an Instant');
    return ((reader.high ^ reader.low) + Math.imul(51, reader.readI32('nanoseconds of an Instant'))) | 0;
  },
  write(value, writer) {
    if (value === null) {
      writer.writeI64(-(1n << 63n));
      writer.writeI32(INT_MIN);
      return true;
    }
    if (typeof value !== 'string' || !value.endsWith('Z')) return false;
    const parsed = parseDateTime(value.slice(0, -1));
    if (parsed === undefined) return false;
    writer.writeI64(parsed.seconds);
    writer.writeI32(parsed.nanos);
    return true;
  },
});

function readDate(reader: ByteReader): CivilDate | null {
  const at = reader.offset;
  const year = reader.readI32('year');
  const month = reader.readI8('month');
  const day = reader.readI8('day');
  if (year === INT_MIN) return null;
  if (month < 1 || month > 12 || day < 1 || day > 31 || Math.abs(year) > 999_999_999) {
    reader.fail('a date', `${year}-${month}-${day}`, at);
  }
  return { year, month, day };
}

function readTime(reader: ByteReader): CivilTime | null {
  const at = reader.offset;
  const hour = reader.readI8('hour');
  const minute = reader.readI8('minute');
  const second = reader.readI8('second');
  const nanos = reader.readI32('nanoseconds');
  if (hour === BYTE_MIN) return null;
  if (
    hour < 0 ||
    hour > 23 ||
    minute < 0 ||
    minute > 59 ||
    second < 0 ||
    second > 59 ||
    nanos < 0 ||
    nanos > 999_999_999
  )
    reader.fail('a time of day', `${hour}:${minute}:${second} and ${nanos} ns`, at);
  return { hour, minute, second, nanos };
}

const textOf = ({ hour, minute, second, nanos }: CivilTime): string => timeText(hour, minute, second, nanos);

function hashDate(date: CivilDate | null): number {
  if (date === null) return 0;
  const { year, month, day } = date;
  return (year & 0xfffff800) ^ ((year << 11) + (month << 6) + day);
}

function hashTime(time: CivilTime | null): number {
  if (time === null) return 0;
  const nanos = BigInt(time.hour * 3600 + time.minute * 60 + time.second) * 1_000_000_000n + BigInt(time.nanos);
  return Number(BigInt.asIntN(32, nanos ^ (nanos >> 32n)));
}

type Writer = Parameters<NonNullable<SerializerParts['write']>>[1];

function writeDate(date: CivilDate | null, writer: Writer): void {
  writer.writeI32(date?.year ?? INT_MIN);
  writer.writeI8(date?.month ?? BYTE_MIN);
  writer.writeI8(date?.day ?? 0);
}

function writeTime(time: CivilTime | null, writer: Writer): void {
  writer.writeI8(time?.hour ?? BYTE_MIN);
  writer.writeI8(time?.minute ?? BYTE_MIN);
  writer.writeI8(time?.second ?? 0);
  writer.writeI32(time?.nanos ?? INT_MIN);
}

export const LOCAL_DATE: ValueSerializer = fixed({
  type: 'LocalDate',
  length: 6,
  read(reader) {
    const date = readDate(reader);
    return date === null ? null : dateText(date);
  },
  hash: (reader) => hashDate(readDate(reader)),
  write(value, writer) {
    const date = value === null ? null : typeof value === 'string' ? parseDate(value) : undefined;
    if (date === undefined) return false;
    writeDate(date, writer);
    return true;
  },
});

export const LOCAL_TIME: ValueSerializer = fixed({
  type: 'LocalTime',
  length: 7,
  read(reader) {
    const time = readTime(reader);
    return time === null ? null : textOf(time);
  },
  hash: (reader) => hashTime(readTime(reader)),
  write(value, writer) {
    const time = value === null ? null : typeof value === 'string' ? parseTime(value) : undefined;
    if (time === undefined) return false;
    writeTime(time, writer);
    return true;
  },
});

export const LOCAL_DATE_TIME: ValueSerializer = fixed({
  type: 'LocalDateTime',
  length: 13,
  read(reader) {
    const at = reader.offset;
    const date = readDate(reader);
    const time = readTime(reader);
    if (date === null && time === null) return null;
    if (date === null || time === null) return reader.fail('a date with a time', 'only one of them', at);
    return `${dateText(date)}T${textOf(time)}`;
  },
  hash(reader) {
    const date = hashDate(readDate(reader));
    return date ^ hashTime(readTime(reader));
  },
  write(value, writer) {
    if (value === null) {
      writeDate(null, writer);
      writeTime(null, writer);
      return true;
    }
    const [day = '', clock = ''] = typeof value === 'string' ? value.split('T') : [];
    const date = parseDate(day);
    const time = parseTime(clock);
    if (date === undefined || time === undefined) return false;
    writeDate(date, writer);
    writeTime(time, writer);
    return true;
  },
});

/** Days after 1 January 1970 of a date in ISO form; undefined if it is none. */
export function parseEpochDay(text: string): number | undefined {
  const date = parseDate(text);
  return date === undefined ? undefined : epochDayOf(date);
}
