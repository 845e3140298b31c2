/** Decodes the parts of an entry of keyed state. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import { longValue } from '../value/numbers.js';
import { type StateValue, UndecodableValueError, type ValueSerializer } from '../value/value-serializer.js';
import type { KeyedState } from './named-state.js';
import type { RawEntry } from './raw-entry.js';

/** Between the elements of a list that was joined. */
const SEPARATOR_BYTES = 1;
const SIGN_BIT = 0x80000000;

/** An entry of a map. */
export interface MapEntry {
  readonly key: StateValue;
  readonly value: StateValue;
}

/** Reads from the buffers of one batch after the other. */
export class EntryDecoder {
  private reader = ByteReader.over(new Uint8Array(0));

  /** @throws ByteFormatError with an offset in the buffer */
  key({ state, keyBuffer, key, keyEnd }: RawEntry): StateValue {
    return this.part(state.key, keyBuffer, key, keyEnd);
  }

  /** @throws as {@link key} */
  namespace({ state, keyBuffer, namespace, namespaceEnd }: RawEntry): StateValue {
    return this.part(state.namespace, keyBuffer, namespace, namespaceEnd);
  }

  /** Milliseconds; only of timers. */
  timestamp({ keyBuffer, timestamp, isFlipped }: RawEntry): number | string {
    const reader = this.over(keyBuffer);
    reader.position = timestamp;
    reader.readI64('timestamp of a timer');
    return longValue(isFlipped ? (reader.high ^ SIGN_BIT) | 0 : reader.high, reader.low);
  }

  /** The value of anything but a map or a timer. @throws as {@link key} */
  value(entry: RawEntry): StateValue {
    const { state, valueBuffer, value, valueEnd, form } = entry;
    if (form === 'joined') return this.elements(state, entry);
    return this.part(serializer(state.value, state), valueBuffer, value, valueEnd);
  }

  /** The entries of a map, all of them or, where each stands by itself, one. @throws as {@link key} */
  mapEntries(entry: RawEntry): MapEntry[] {
    const { state, valueBuffer, value, valueEnd, form } = entry;
    if (form !== 'map-entry') {
      const whole = this.part(serializer(state.value, state), valueBuffer, value, valueEnd);
      return whole as unknown as MapEntry[];
    }
    const key = this.part(serializer(state.mapKey, state), entry.keyBuffer, entry.mapKey, entry.mapKeyEnd);
    const reader = this.over(valueBuffer);
    reader.position = value;
    const isNull = reader.readU8('whether a value of a map is null') !== 0;
    // Whatever stands behind a null is not looked at by Flink either.
    if (isNull) return [{ key, value: null }];
    return [{ key, value: this.part(serializer(state.mapValue, state), valueBuffer, value + 1, valueEnd) }];
  }

  private elements(state: KeyedState, { valueBuffer, value, valueEnd }: RawEntry): StateValue {
    const element = serializer(state.element, state);
    const reader = this.over(valueBuffer);
    const elements: StateValue[] = [];
    reader.position = value;
    try {
      while (reader.position < valueEnd) {
        if (elements.length > 0) reader.take(SEPARATOR_BYTES, 'the byte between elements of a list');
        elements.push(element.read(reader, valueEnd));
      }
    } catch (error) {
      if (!(error instanceof UndecodableValueError)) throw error;
      return opaque(`List<${element.type}>`, error, reader, value, valueEnd);
    }
    checkEnd(reader, valueEnd, 'a list');
    return elements;
  }

  private part(serializer: ValueSerializer, buffer: Uint8Array, start: number, end: number): StateValue {
    return readWhole(serializer, this.over(buffer), start, end);
  }

  private over(buffer: Uint8Array): ByteReader {
    const { buffer: current } = this.reader;
    if (
      current.buffer !== buffer.buffer ||
      current.byteOffset !== buffer.byteOffset ||
      current.length !== buffer.length
    ) {
      this.reader = ByteReader.over(buffer);
    }
    return this.reader;
  }
}

/**
 * Reads a value of which is known where it ends. One with a part inside that cannot be decoded stays bytes, all of it.
 * @throws ByteFormatError if it ends elsewhere
 */
export function readWhole(serializer: ValueSerializer, reader: ByteReader, start: number, end: number): StateValue {
  reader.position = start;
  try {
    const value = serializer.read(reader, end);
    checkEnd(reader, end, `a value of ${serializer.type}`);
    return value;
  } catch (error) {
    if (!(error instanceof UndecodableValueError)) throw error;
    return opaque(serializer.type, error, reader, start, end);
  }
}

function opaque(
  type: string,
  error: UndecodableValueError,
  { buffer }: ByteReader,
  start: number,
  end: number,
): StateValue {
  return { '@opaque': type, serializer: error.type, bytes: buffer.toString('base64', start, end) };
}

/** Elements that were joined, each with where it starts and ends. @throws ByteFormatError; UndecodableValueError */
export function splitElements(element: ValueSerializer, reader: ByteReader, end: number): [number, number][] {
  const parts: [number, number][] = [];
  while (reader.position < end) {
    if (parts.length > 0) reader.take(SEPARATOR_BYTES, 'the byte between elements of a list');
    const start = reader.position;
    element.skip(reader, end);
    parts.push([start, reader.position]);
  }
  checkEnd(reader, end, 'a list');
  return parts;
}

function serializer(found: ValueSerializer | undefined, { name, kind }: KeyedState): ValueSerializer {
  if (found) return found;
  throw new ByteFormatError(0, `the serializers of the ${kind} state ${name}`, 'a header without them');
}

function checkEnd(reader: ByteReader, end: number, what: string): void {
  if (reader.position === end) return;
  const found =
    reader.position < end ? `${end - reader.position} bytes behind it` : `one of ${reader.position - end} bytes more`;
  reader.fail(`${what} that ends here`, found);
}
