/** What decoders of state values have in common. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { TypeDescription } from './type-description.js';

/**
 * A key, namespace or value as JSON has it. Integers of 2^53 and more are strings, NaN and infinities too, bytes are base64;
 * times are in ISO form. A part that only its own class can read is `{"@opaque": class, "serializer", "bytes"}`.
 */
export type StateValue =
  | null
  | boolean
  | number
  | string
  | readonly StateValue[]
  | { readonly [name: string]: StateValue };

/**
 * Decodes what a serializer of Flink wrote, without its classes. One method call handles one value; none keeps anything
 * between calls. Bytes are checked: what cannot be such a value is a ByteFormatError, with the offset in the reader's input.
 */
export interface ValueSerializer {
  /** For people, e.g. `Tuple2<String, Integer>`. */
  readonly type: string;
  readonly description: TypeDescription;
  /**
   * What Flink's `TypeSerializer.getLength` says, undefined for -1. The layout of keys depends on exactly this. It is the
   * number of bytes of every value but for the void namespace: there Flink says 0, and writes one byte.
   */
  readonly length: number | undefined;
  /**
   * Why some values, or parts of them, cannot be decoded: class and serializer. Undefined if all can. Bytes whose end is
   * known can always be read (see {@link ValueSerializer.read}).
   */
  readonly undecodable: string | undefined;
  /** Why Java's hash code of a value cannot be known here; undefined if {@link ValueSerializer.hash} tells it. */
  readonly unhashable: string | undefined;
  /** Why values cannot be written here; undefined if {@link ValueSerializer.write} can. */
  readonly unwritable: string | undefined;

  /**
   * Reads one value and steps over it.
   * @param end where the value ends, as an index into the reader's buffer, if somebody knows: an undecodable value in last
   *   place then becomes an opaque one. Without it, it is an error. Whether a value ends there is for the caller to compare.
   * @throws ByteFormatError; UndecodableValueError, after which the reader's position means nothing
   */
  read(reader: ByteReader, end?: number): StateValue;

  /** Steps over one value without making it. @throws as {@link ValueSerializer.read}, though it checks less */
  skip(reader: ByteReader, end?: number): void;

  /**
   * Reads one value and returns what `hashCode()` of the Java object is, which decides its key group.
   * @throws as {@link ValueSerializer.read}; Error if `unhashable`
   */
  hash(reader: ByteReader): number;

  /**
   * Writes a value in the form that {@link ValueSerializer.read} returns, as Flink would.
   * @throws UnwritableValueError if it is none of this type
   */
  write(value: StateValue, writer: ByteWriter): void;
}

/** A value that only its own class, or Kryo, can take apart, at a place where nobody knows how long it is. */
export class UndecodableValueError extends Error {
  override readonly name = 'UndecodableValueError';
  /**
   * @param offset where the value starts, in bytes from the start of the input
   * @param type names class and serializer
   */
  constructor(
    readonly offset: number,
    readonly type: string,
  ) {
    super(`the value of ${type} at byte ${offset} cannot be decoded, and nothing tells how long it is`);
  }
}

/** Something that is no value of a type, given to be written: a key on the command line. */
export class UnwritableValueError extends Error {
  override readonly name = 'UnwritableValueError';
  /** @param type the type that was wanted; @param found what was there, for people */
  constructor(
    readonly type: string,
    readonly found: string,
  ) {
    super(`${found} is no ${type}`);
  }
}

/** @throws UnwritableValueError always */
export function failToWrite(type: string, value: StateValue): never {
  const text = JSON.stringify(value) ?? String(value);
  throw new UnwritableValueError(type, text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

/** @throws Error always: the caller did not look at `unhashable` */
export function failToHash(serializer: { readonly type: string; readonly unhashable: string | undefined }): never {
  throw new Error(`no hash code of ${serializer.type}: ${serializer.unhashable}`);
}
