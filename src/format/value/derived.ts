/** Serializers that are made from functions: those that need no speed, and hash by their class or not at all. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { TypeDescription } from './type-description.js';
import { failToHash, failToWrite, type StateValue, type ValueSerializer } from './value-serializer.js';

/** Parts of a serializer; see {@link ValueSerializer}. What is left out cannot be done. */
export interface SerializerParts {
  readonly type: string;
  readonly description?: TypeDescription;
  readonly length?: number | undefined;
  readonly undecodable?: string | undefined;
  readonly read: (reader: ByteReader, end: number | undefined) => StateValue;
  /** By default the value is read. */
  readonly skip?: (reader: ByteReader, end: number | undefined) => void;
  readonly hash?: (reader: ByteReader) => number;
  /** Why there is no hash. */
  readonly unhashable?: string | undefined;
  /** Returns false if the value is none of the type; nothing has been written then. */
  readonly write?: (value: StateValue, writer: ByteWriter) => boolean;
  readonly unwritable?: string | undefined;
}

/** A serializer out of its parts. */
export function makeSerializer(parts: SerializerParts): ValueSerializer {
  const { type, read, skip, hash, write } = parts;
  const unhashable = hash === undefined ? (parts.unhashable ?? `the hash code of ${type} is not known`) : undefined;
  const unwritable = write === undefined ? (parts.unwritable ?? `${type} cannot be written`) : undefined;
  return {
    type,
    description: parts.description ?? { kind: 'basic', name: type },
    length: parts.length,
    undecodable: parts.undecodable,
    unhashable,
    unwritable,
    read,
    skip: skip ?? ((reader, end) => void read(reader, end)),
    hash: hash ?? (() => failToHash({ type, unhashable })),
    write(value, writer) {
      if (write?.(value, writer) !== true) failToWrite(type, value);
    },
  };
}
