/** Arrays of primitives, and what else is a count of elements of one size. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { makeSerializer } from './derived.js';
import { readFlinkString, skipFlinkString, writeFlinkString } from './flink-string.js';
import { BOOLEAN, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT } from './numbers.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

/** Java hashes arrays by where they are in memory. */
const BY_IDENTITY = 'Java hashes an array by its identity';

/** Reads a count of things of at least `bytesEach` bytes. */
export function readElementCount(reader: ByteReader, bytesEach: number): number {
  return reader.readCount('number of elements', bytesEach);
}

/** Bytes with a 32-bit length in front, as base64. */
export function readBytes(reader: ByteReader): string {
  const length = reader.readCount('length of bytes', 1);
  const start = reader.take(length, 'bytes');
  return reader.buffer.toString('base64', start, start + length);
}

/** Steps over {@link readBytes}. */
export function skipBytes(reader: ByteReader): void {
  reader.take(reader.readCount('length of bytes', 1), 'bytes');
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of base64; undefined if it is none. */
export function parseBase64(value: StateValue): Uint8Array | undefined {
  return typeof value === 'string' && BASE64.test(value) ? Buffer.from(value, 'base64') : undefined;
}

/** `byte[]`; `name` for other classes that are nothing but bytes. */
export const bytesSerializer = (name: string): ValueSerializer =>
  makeSerializer({
    type: name,
    read: readBytes,
    skip: skipBytes,
    unhashable: BY_IDENTITY,
    write(value, writer) {
      const bytes = parseBase64(value);
      if (bytes === undefined) return false;
      writer.writeI32(bytes.length);
      writer.writeBytes(bytes);
      return true;
    },
  });

/** An array of a primitive type, e.g. `long[]`. */
function arrayOf(type: string, element: ValueSerializer): ValueSerializer {
  const bytesEach = element.length ?? 1;
  return makeSerializer({
    type,
    read(reader) {
      const count = readElementCount(reader, bytesEach);
      const values: StateValue[] = [];
      for (let i = 0; i < count; i++) values.push(element.read(reader));
      return values;
    },
    skip: (reader) => void reader.take(readElementCount(reader, bytesEach) * bytesEach, type),
    unhashable: BY_IDENTITY,
    write(value, writer) {
      if (!Array.isArray(value)) return false;
      writer.writeI32(value.length);
      for (const item of value) element.write(item, writer);
      return true;
    },
  });
}

export const BYTES: ValueSerializer = bytesSerializer('byte[]');
export const BOOLEAN_ARRAY: ValueSerializer = arrayOf('boolean[]', BOOLEAN);
export const CHAR_ARRAY: ValueSerializer = arrayOf('char[]', CHAR);
export const SHORT_ARRAY: ValueSerializer = arrayOf('short[]', SHORT);
export const INT_ARRAY: ValueSerializer = arrayOf('int[]', INT);
export const LONG_ARRAY: ValueSerializer = arrayOf('long[]', LONG);
export const FLOAT_ARRAY: ValueSerializer = arrayOf('float[]', FLOAT);
export const DOUBLE_ARRAY: ValueSerializer = arrayOf('double[]', DOUBLE);

export const STRING_ARRAY: ValueSerializer = makeSerializer({
  type: 'String[]',
  read(reader) {
    const count = readElementCount(reader, 1);
    const values: (string | null)[] = [];
    for (let i = 0; i < count; i++) values.push(readFlinkString(reader));
    return values;
  },
  skip(reader) {
    const count = readElementCount(reader, 1);
    for (let i = 0; i < count; i++) skipFlinkString(reader);
  },
  unhashable: BY_IDENTITY,
  write(value, writer) {
    if (!Array.isArray(value) || !value.every((item) => item === null || typeof item === 'string')) return false;
    writer.writeI32(value.length);
    for (const item of value) writeFlinkString(item, writer);
    return true;
  },
});
