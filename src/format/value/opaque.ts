/** Values that only their own class can read, Kryo's first of all. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { makeSerializer } from './derived.js';
import { UndecodableValueError, type ValueSerializer } from './value-serializer.js';

/** What is known of the class of a value. */
export interface OpaqueType {
  /** For people, e.g. `Kryo<com.example.Order>`. */
  readonly type: string;
  /** The class of the values, or of the snapshot where that is all there is. */
  readonly javaClass: string;
  /** Simple name of the serializer, e.g. `KryoSerializer`. */
  readonly serializer: string;
  /** The class that the bytes of a value name, if they do. */
  readonly classIn?: (bytes: Uint8Array) => string | undefined;
}

/** A serializer of values that stay bytes: `{"@opaque", "serializer", "bytes"}` where their end is known. */
export function opaqueSerializer({ type, javaClass, serializer, classIn }: OpaqueType): ValueSerializer {
  return makeSerializer({
    type,
    description: { kind: 'opaque', name: type, javaClass, serializer },
    undecodable: `values of ${javaClass} can be read by ${serializer} only`,
    unhashable: `only ${javaClass} knows its hash codes`,
    unwritable: `values of ${javaClass} can be written by ${serializer} only`,
    read(reader, end) {
      const bytes = takeTo(reader, end, type);
      return {
        '@opaque': classIn?.(bytes) ?? javaClass,
        serializer,
        bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
      };
    },
    skip: (reader, end) => void takeTo(reader, end, type),
  });
}

function takeTo(reader: ByteReader, end: number | undefined, type: string): Uint8Array {
  if (end === undefined) throw new UndecodableValueError(reader.offset, type);
  const start = reader.position;
  if (end < start) reader.fail(`a value of ${type}`, 'the end of what holds it');
  reader.take(end - start, type);
  return reader.buffer.subarray(start, end);
}

/** Of Kryo's numbers of classes: null, and one that is given by its name. */
const KRYO_NAMED_CLASS = 1;

/** The class that Kryo wrote in front of an object, if it did so by name: with the top bit set in the last letter. */
export function kryoClassName(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== KRYO_NAMED_CLASS || bytes[1] !== 0) return undefined;
  const end = bytes.findIndex((byte, at) => at > 1 && byte >= 0x80);
  if (end < 0 || end > 1000) return undefined;
  const text = Buffer.from(bytes.subarray(2, end + 1));
  text[text.length - 1] = (text[text.length - 1] as number) & 0x7f;
  const name = text.toString('latin1');
  return /^[\w.$[;]+$/.test(name) ? name : undefined;
}
