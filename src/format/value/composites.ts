/** Serializers that put others one after the other: tuples, time to live, timers, and those of two forms. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { readBoolean } from './collections.js';
import { makeSerializer } from './derived.js';
import { longValue } from './numbers.js';
import { parseLong } from './parse-number.js';
import { type TypeDescription, typeText } from './type-description.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

type Fields = { readonly [name: string]: StateValue };

/** The fields of a JSON object; undefined if the value is none. */
export function fieldsOf(value: StateValue): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The first reason that one of the parts gives. */
function reason(
  parts: readonly ValueSerializer[],
  name: 'undecodable' | 'unhashable' | 'unwritable',
): string | undefined {
  for (const part of parts) if (part[name] !== undefined) return part[name];
  return undefined;
}

/** `TupleSerializerBase.getLength`: the sum, if every part has a length above 0. */
function sumOfPositive(parts: readonly ValueSerializer[]): number | undefined {
  let sum = 0;
  for (const { length } of parts) {
    if (length === undefined || length === 0) return undefined;
    sum += length;
  }
  return sum;
}

/** `CompositeSerializer` and others: the sum, if every part has a length, which may be 0. */
function sumOf(parts: readonly ValueSerializer[]): number | undefined {
  let sum = 0;
  for (const { length } of parts) {
    if (length === undefined) return undefined;
    sum += length;
  }
  return sum;
}

/** How a sequence of parts is hashed. */
type PartsHash = 'java' | { readonly unhashable: string };

/** Parts back to back, none null, as an array. */
export function tupleSerializer(
  javaClass: string,
  parts: readonly ValueSerializer[],
  hashing: PartsHash,
): ValueSerializer {
  const description: TypeDescription = { kind: 'tuple', javaClass, parts: parts.map((part) => part.description) };
  const unhashable = hashing === 'java' ? reason(parts, 'unhashable') : hashing.unhashable;
  const unwritable = reason(parts, 'unwritable');
  const last = parts.length - 1;
  return makeSerializer({
    type: typeText(description),
    description,
    length: sumOfPositive(parts),
    undecodable: reason(parts, 'undecodable'),
    read(reader, end) {
      const values: StateValue[] = [];
      for (let i = 0; i <= last; i++) {
        values.push((parts[i] as ValueSerializer).read(reader, i === last ? end : undefined));
      }
      return values;
    },
    skip(reader, end) {
      for (let i = 0; i <= last; i++) (parts[i] as ValueSerializer).skip(reader, i === last ? end : undefined);
    },
    ...(unhashable === undefined
      ? {
          hash(reader: ByteReader) {
            let hash = 0;
            for (const part of parts) hash = (Math.imul(31, hash) + part.hash(reader)) | 0;
            return hash;
          },
        }
      : { unhashable }),
    ...(unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            if (!Array.isArray(value) || value.length !== parts.length) return false;
            for (const [i, part] of parts.entries()) part.write(value[i], writer);
            return true;
          },
        }
      : { unwritable }),
  });
}

/** The tuple without parts: one byte. */
export const TUPLE_0: ValueSerializer = makeSerializer({
  type: 'Tuple0',
  description: { kind: 'tuple', javaClass: 'org.apache.flink.api.java.tuple.Tuple0', parts: [] },
  length: 1,
  read(reader) {
    reader.take(1, 'Tuple0');
    return [];
  },
  hash(reader) {
    reader.take(1, 'Tuple0');
    return 0;
  },
  write(value, writer) {
    if (!Array.isArray(value) || value.length !== 0) return false;
    // The byte of Flink's Tuple0Serializer.
    writer.writeI8(42);
    return true;
  },
});

/** A value with the time of its last access, in milliseconds: `{value, lastAccess}`. */
export function ttlSerializer(time: ValueSerializer, value: ValueSerializer): ValueSerializer {
  const description: TypeDescription = { kind: 'composite', name: 'Ttl', parts: [value.description] };
  return makeSerializer({
    type: typeText(description),
    description,
    length: sumOf([time, value]),
    undecodable: value.undecodable,
    read(reader, end) {
      const lastAccess = time.read(reader);
      return { value: value.read(reader, end), lastAccess };
    },
    skip(reader, end) {
      time.skip(reader);
      value.skip(reader, end);
    },
  });
}

/** A timer: `{key, namespace, timestamp}`. The sign bit of the timestamp is flipped, so that the bytes sort. */
export function timerSerializer(key: ValueSerializer, namespace: ValueSerializer): ValueSerializer {
  const description: TypeDescription = {
    kind: 'composite',
    name: 'Timer',
    parts: [key.description, namespace.description],
  };
  const length = sumOf([key, namespace]);
  return makeSerializer({
    type: typeText(description),
    description,
    length: length === undefined ? undefined : 8 + length,
    undecodable: key.undecodable ?? namespace.undecodable,
    read(reader, end) {
      reader.readI64('timestamp of a timer');
      const timestamp = longValue(reader.high ^ 0x8000_0000, reader.low);
      const timerKey = key.read(reader);
      return { key: timerKey, namespace: namespace.read(reader, end), timestamp };
    },
    skip(reader, end) {
      reader.take(8, 'timestamp of a timer');
      key.skip(reader);
      namespace.skip(reader, end);
    },
    unhashable: 'timers are no keys',
    ...(key.unwritable === undefined && namespace.unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            const fields = fieldsOf(value);
            const timestamp = parseLong(fields?.timestamp ?? null);
            if (fields === undefined || timestamp === undefined) return false;
            writer.writeI64(BigInt.asIntN(64, timestamp ^ (1n << 63n)));
            key.write(fields.key ?? null, writer);
            namespace.write(fields.namespace ?? null, writer);
            return true;
          },
        }
      : {}),
  });
}

/** One of two: `{left}` or `{right}`. */
export function eitherSerializer(left: ValueSerializer, right: ValueSerializer): ValueSerializer {
  const description: TypeDescription = {
    kind: 'composite',
    name: 'Either',
    parts: [left.description, right.description],
  };
  const isLeft = (reader: ByteReader): boolean => readBoolean(reader, 'which side of an Either');
  const unhashable = left.unhashable ?? right.unhashable;
  const unwritable = left.unwritable ?? right.unwritable;
  return makeSerializer({
    type: typeText(description),
    description,
    undecodable: left.undecodable ?? right.undecodable,
    read: (reader, end) => (isLeft(reader) ? { left: left.read(reader, end) } : { right: right.read(reader, end) }),
    skip: (reader, end) => (isLeft(reader) ? left : right).skip(reader, end),
    ...(unhashable === undefined
      ? { hash: (reader: ByteReader) => (isLeft(reader) ? left : right).hash(reader) }
      : { unhashable }),
    ...(unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            const fields = fieldsOf(value);
            const side = fields?.left !== undefined ? left : right;
            const inner = fields?.left ?? fields?.right;
            if (inner === undefined) return false;
            writer.writeI8(side === left ? 1 : 0);
            side.write(inner, writer);
            return true;
          },
        }
      : { unwritable }),
  });
}

/**
 * A value or null.
 * @param padding bytes that stand in place of the value, so that all have one length
 */
export function nullableSerializer(inner: ValueSerializer, padding: number): ValueSerializer {
  const description: TypeDescription = { kind: 'composite', name: 'Nullable', parts: [inner.description] };
  const isNull = (reader: ByteReader): boolean => {
    if (!readBoolean(reader, 'whether a value is null')) return false;
    reader.take(padding, 'padding of a null value');
    return true;
  };
  const { unhashable, unwritable } = inner;
  return makeSerializer({
    type: typeText(description),
    description,
    length: padding > 0 ? 1 + padding : undefined,
    undecodable: inner.undecodable,
    read: (reader, end) => (isNull(reader) ? null : inner.read(reader, end)),
    skip(reader, end) {
      if (!isNull(reader)) inner.skip(reader, end);
    },
    ...(unhashable === undefined
      ? { hash: (reader: ByteReader) => (isNull(reader) ? 0 : inner.hash(reader)) }
      : { unhashable }),
    ...(unwritable === undefined
      ? {
          write(value: StateValue, writer: ByteWriter) {
            writer.writeI8(value === null ? 1 : 0);
            if (value === null) writer.writeBytes(new Uint8Array(padding));
            else inner.write(value, writer);
            return true;
          },
        }
      : { unwritable }),
  });
}
