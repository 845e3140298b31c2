/** Keys as somebody types them. */
import { ByteReader } from '../../bytes/byte-reader.js';
import { ByteWriter } from '../../bytes/byte-writer.js';
import type { TypeDescription } from './type-description.js';
import { type StateValue, UnwritableValueError, type ValueSerializer } from './value-serializer.js';

/** A key in its forms. */
export interface EncodedKey {
  /** What its serializer reads. */
  readonly value: StateValue;
  /** What Flink's serializer writes, without key group, namespace or lengths. */
  readonly bytes: Uint8Array;
  /** `hashCode()` of the Java object, for `keyGroupOf`; undefined where it cannot be known. */
  readonly hashCode: number | undefined;
}

/**
 * Encodes a key given as text: strings, times, enum constants and large numbers as they are; other numbers and booleans as in
 * JSON; tuples as `["a",1]`, rows as `["a",1]` or `{"kind":"+I","fields":["a",1]}`, POJOs as `{"name":"a"}`. The one part of a
 * tuple or row needs no brackets.
 * @throws UnwritableValueError if the text is no value of the type, or values of it cannot be written
 */
export function encodeKey(serializer: ValueSerializer, text: string): EncodedKey {
  const { type, unwritable } = serializer;
  if (unwritable !== undefined) throw new UnwritableValueError(`${type} that can be written`, `a key (${unwritable})`);
  let failure: UnwritableValueError | undefined;
  for (const value of candidates(serializer.description, text)) {
    try {
      return encode(serializer, value);
    } catch (error) {
      if (!(error instanceof UnwritableValueError)) throw error;
      failure ??= error;
    }
  }
  throw failure ?? new UnwritableValueError(type, JSON.stringify(text));
}

/** What the text may mean, the likeliest first. */
function* candidates(description: TypeDescription, text: string): Generator<StateValue> {
  const parsed = parseJson(text);
  const single = hasOnePart(description);
  const isStructure = typeof parsed === 'object' && parsed !== null;
  if (single && !isStructure) {
    yield [text];
    if (parsed !== undefined) yield [parsed];
  }
  // A text that is JSON is still a text where one is wanted.
  if (!isStructure || description.kind === 'basic') yield text;
  if (parsed !== undefined) yield parsed;
}

function hasOnePart(description: TypeDescription): boolean {
  switch (description.kind) {
    case 'tuple':
    case 'row':
      return description.parts.length === 1;
    case 'row-data':
      return description.fields.length === 1;
    default:
      return false;
  }
}

function parseJson(text: string): StateValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function encode(serializer: ValueSerializer, value: StateValue): EncodedKey {
  const writer = new ByteWriter();
  serializer.write(value, writer);
  const bytes = writer.drain();
  const reader = ByteReader.over(bytes);
  // As its serializer reads it: what was typed may be one of several ways to say it.
  const read = serializer.read(reader);
  reader.position = 0;
  return { value: read, bytes, hashCode: serializer.unhashable === undefined ? serializer.hash(reader) : undefined };
}
