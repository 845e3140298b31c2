/** Lists, sets, maps and arrays of any elements. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { readElementCount } from './arrays.js';
import { makeSerializer } from './derived.js';
import { type TypeDescription, typeText } from './type-description.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

/** How a collection says that an element is null. */
export type NullForm =
  /** Not at all. */
  | 'none'
  /** A byte before each element: 1 for null. */
  | 'null-flag'
  /** A byte before each element: 0 for null. */
  | 'present-flag'
  /** A bit for each element, highest first, after the count. */
  | 'mask';

/** Elements beyond the bytes they take: none of Flink's collections consists of elements without any bytes. */
const MAX_EMPTY_ELEMENTS = 100;

/**
 * Call after each element of a collection: a count can be large only if the bytes are there too.
 * @param start where the elements began, as an index into the reader's buffer
 * @throws ByteFormatError if `count` elements took next to no bytes
 */
export function checkProgress(reader: ByteReader, start: number, count: number): void {
  if (count - (reader.position - start) <= MAX_EMPTY_ELEMENTS) return;
  reader.fail('elements with bytes', `${count} of them in ${reader.position - start} bytes`);
}

/** What tells lists, sets and arrays apart. */
export interface ElementsOptions {
  readonly kind: 'list' | 'set' | 'array';
  /** E.g. `List`. */
  readonly name: string;
  readonly element: ValueSerializer;
  readonly nulls: NullForm;
}

/** A count and so many elements. */
export function elementsSerializer({ kind, name, element, nulls }: ElementsOptions): ValueSerializer {
  const description: TypeDescription = { kind, name, element: element.description };
  const type = typeText(description);
  // Elements of one size are stepped over at once.
  const bytesEach = nulls === 'none' && element.undecodable === undefined ? element.length : undefined;
  const hash = (reader: ByteReader): number => {
    const count = readElementCount(reader, 1);
    const mask = nulls === 'mask' ? readMask(reader, count) : undefined;
    let sum = kind === 'set' ? 0 : 1;
    const start = reader.position;
    for (let i = 0; i < count; i++) {
      checkProgress(reader, start - (mask?.length ?? 0) * 8, i);
      const code = isNull(reader, nulls, mask, i) ? 0 : element.hash(reader);
      sum = kind === 'set' ? (sum + code) | 0 : (Math.imul(31, sum) + code) | 0;
    }
    return sum;
  };
  return makeSerializer({
    type,
    description,
    undecodable: element.undecodable,
    read(reader, end) {
      const count = readElementCount(reader, 1);
      const mask = nulls === 'mask' ? readMask(reader, count) : undefined;
      const values: StateValue[] = [];
      const start = reader.position;
      for (let i = 0; i < count; i++) {
        const last = i === count - 1 ? end : undefined;
        values.push(isNull(reader, nulls, mask, i) ? null : element.read(reader, last));
        checkProgress(reader, start - (mask?.length ?? 0) * 8, i);
      }
      return values;
    },
    skip(reader, end) {
      const count = readElementCount(reader, 1);
      if (bytesEach !== undefined && bytesEach > 0) {
        reader.take(readableBytes(reader, count, bytesEach), type);
        return;
      }
      const mask = nulls === 'mask' ? readMask(reader, count) : undefined;
      const start = reader.position;
      for (let i = 0; i < count; i++) {
        if (!isNull(reader, nulls, mask, i)) element.skip(reader, i === count - 1 ? end : undefined);
        checkProgress(reader, start - (mask?.length ?? 0) * 8, i);
      }
    },
    ...(kind === 'array'
      ? { unhashable: 'Java hashes an array by its identity' }
      : element.unhashable === undefined
        ? { hash }
        : { unhashable: element.unhashable }),
    ...(element.unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            if (!Array.isArray(value)) return false;
            writeElements(value, writer, element, nulls);
            return true;
          },
        }
      : { unwritable: element.unwritable }),
  });
}

function readableBytes(reader: ByteReader, count: number, bytesEach: number): number {
  const bytes = count * bytesEach;
  if (bytes > reader.remaining) {
    reader.fail('elements of a list', `${count} of ${bytesEach} bytes where ${reader.remaining} remain`);
  }
  return bytes;
}

function readMask(reader: ByteReader, count: number): Uint8Array {
  const bytes = (count + 7) >> 3;
  const start = reader.take(bytes, 'null mask of a list');
  return Uint8Array.from(reader.buffer.subarray(start, start + bytes));
}

function isNull(reader: ByteReader, nulls: NullForm, mask: Uint8Array | undefined, index: number): boolean {
  switch (nulls) {
    case 'none':
      return false;
    case 'null-flag':
      return readBoolean(reader, 'whether an element is null');
    case 'present-flag':
      return !readBoolean(reader, 'whether an element is present');
    case 'mask':
      return (((mask?.[index >> 3] ?? 0) << (index & 7)) & 0x80) !== 0;
  }
}

/** What Java wrote as a boolean. @throws ByteFormatError if it is neither 0 nor 1: the bytes are none of this type */
export function readBoolean(reader: ByteReader, reading: string): boolean {
  const byte = reader.readU8(reading);
  if (byte > 1) reader.fail(`${reading} (0 or 1)`, `${byte}`, reader.offset - 1);
  return byte === 1;
}

function writeElements(
  values: readonly StateValue[],
  writer: ByteWriter,
  element: ValueSerializer,
  nulls: NullForm,
): void {
  writer.writeI32(values.length);
  if (nulls === 'mask') {
    for (let at = 0; at < values.length; at += 8) {
      let bits = 0;
      for (let i = 0; i < 8; i++) if (values[at + i] === null) bits |= 0x80 >> i;
      writer.writeI8(bits);
    }
  }
  for (const value of values) {
    if (nulls === 'null-flag') writer.writeI8(value === null ? 1 : 0);
    if (nulls === 'present-flag') writer.writeI8(value === null ? 0 : 1);
    if (value !== null || nulls === 'none') element.write(value, writer);
  }
}

/** What tells maps apart. */
export interface MapOptions {
  readonly name: string;
  readonly key: ValueSerializer;
  readonly value: ValueSerializer;
  /** A byte before each key says whether it is null. */
  readonly nullableKeys: boolean;
}

/** A count and so many entries `{key, value}`, which are sorted by the JSON text of the key: Java's order is arbitrary. */
export function mapSerializer({ name, key, value, nullableKeys }: MapOptions): ValueSerializer {
  const description: TypeDescription = { kind: 'map', name, key: key.description, value: value.description };
  const hasKey = (reader: ByteReader): boolean => !nullableKeys || !readBoolean(reader, 'whether a key is null');
  const hasValue = (reader: ByteReader): boolean => !readBoolean(reader, 'whether a value is null');
  const unhashable = key.unhashable ?? value.unhashable;
  return makeSerializer({
    type: typeText(description),
    description,
    undecodable: key.undecodable ?? value.undecodable,
    read(reader, end) {
      const count = readElementCount(reader, 2);
      const entries: { readonly key: StateValue; readonly value: StateValue }[] = [];
      for (let i = 0; i < count; i++) {
        const entryKey = hasKey(reader) ? key.read(reader) : null;
        const last = i === count - 1 ? end : undefined;
        entries.push({ key: entryKey, value: hasValue(reader) ? value.read(reader, last) : null });
      }
      return sortByKey(entries);
    },
    skip(reader, end) {
      const count = readElementCount(reader, 2);
      for (let i = 0; i < count; i++) {
        if (hasKey(reader)) key.skip(reader);
        if (hasValue(reader)) value.skip(reader, i === count - 1 ? end : undefined);
      }
    },
    ...(unhashable === undefined
      ? {
          hash(reader: ByteReader) {
            const count = readElementCount(reader, 2);
            let sum = 0;
            for (let i = 0; i < count; i++) {
              const code = hasKey(reader) ? key.hash(reader) : 0;
              sum = (sum + (code ^ (hasValue(reader) ? value.hash(reader) : 0))) | 0;
            }
            return sum;
          },
        }
      : { unhashable }),
    // Equal maps can have their entries in any order, so the bytes of one say nothing of the other.
    unwritable: 'the entries of a map have no order',
  });
}

/** Sorts entries by the JSON text of their keys, in UTF-16 order. */
function sortByKey<T extends { readonly key: StateValue }>(entries: T[]): T[] {
  if (entries.length < 2) return entries;
  const texts = new Map(entries.map((entry) => [entry, JSON.stringify(entry.key)]));
  const textOf = (entry: T): string => texts.get(entry) ?? '';
  return entries.sort((a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0));
}
