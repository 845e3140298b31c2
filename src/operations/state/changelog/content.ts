/** What a key has of a state, as bytes, while changes are applied to it. */
import { ByteReader } from '../../../bytes/byte-reader.js';
import { splitElements } from '../../../format/entries/decode-entry.js';
import type { KeyedState } from '../../../format/entries/named-state.js';
import { NONE, RawEntry } from '../../../format/entries/raw-entry.js';
import type { ValueSerializer } from '../../../format/value/value-serializer.js';

/** Between the elements of a list. */
const SEPARATOR = 0x2c;

/** Key and namespace, as serialized. */
export interface Scope {
  readonly keyGroup: number;
  readonly key: Uint8Array;
  readonly namespace: Uint8Array;
}

/** A map: the serialized values by the serialized keys (as text of one character a byte); null for a null. */
export type MapContent = Map<string, Uint8Array | null>;

/** Tells keys and namespaces apart. */
export function identityOf(key: Uint8Array, namespace: Uint8Array): string {
  return `${key.length}:${latin1(key)}${latin1(namespace)}`;
}

/** A text of one character a byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

/** The scope of an entry, copied. */
export function scopeOf({ keyGroup, keyBuffer, key, keyEnd, namespace, namespaceEnd }: RawEntry): Scope {
  return { keyGroup, key: copy(keyBuffer, key, keyEnd), namespace: copy(keyBuffer, namespace, namespaceEnd) };
}

/** Bytes that stay valid. */
export function copy(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}

/** An entry made of its parts. */
export function entryOf(state: KeyedState, { keyGroup, key, namespace }: Scope, value: Uint8Array): RawEntry {
  const entry = new RawEntry(state, keyGroup, Buffer.concat([key, namespace]), value);
  entry.keyEnd = key.length;
  entry.namespace = key.length;
  entry.namespaceEnd = key.length + namespace.length;
  entry.valueEnd = value.length;
  entry.form = state.kind === 'list' ? 'joined' : 'whole';
  return entry;
}

/** An entry for each entry of a map. */
export function mapEntriesOf(state: KeyedState, { keyGroup, key, namespace }: Scope, content: MapContent): RawEntry[] {
  return [...content].map(([mapKey, value]) => {
    const keyBytes = Buffer.concat([key, namespace, Buffer.from(mapKey, 'latin1')]);
    const valueBytes = value === null ? Buffer.of(1) : Buffer.concat([Buffer.of(0), value]);
    const entry = new RawEntry(state, keyGroup, keyBytes, valueBytes);
    entry.keyEnd = key.length;
    entry.namespace = key.length;
    entry.namespaceEnd = key.length + namespace.length;
    entry.mapKey = entry.namespaceEnd;
    entry.mapKeyEnd = keyBytes.length;
    entry.valueEnd = valueBytes.length;
    entry.form = 'map-entry';
    return entry;
  });
}

/** The elements of a list in the form of its serializer: a count, then one behind the other. @throws ByteFormatError */
export function elementsOfList(element: ValueSerializer, bytes: Uint8Array): Uint8Array[] {
  const reader = ByteReader.over(bytes);
  const count = reader.readCount('number of elements', 0);
  const elements: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const start = reader.position;
    element.skip(reader, i === count - 1 ? bytes.length : undefined);
    elements.push(bytes.subarray(start, reader.position));
  }
  if (reader.remaining > 0) reader.fail('the end of a list', `${reader.remaining} more bytes`);
  return elements;
}

/** The elements of an entry of a list, copied. @throws ByteFormatError; UndecodableValueError */
export function elementsOfEntry(
  element: ValueSerializer,
  { valueBuffer, value, valueEnd, form }: RawEntry,
): Uint8Array[] {
  const bytes = copy(valueBuffer, value, valueEnd);
  if (form === 'whole') return elementsOfList(element, bytes);
  const reader = ByteReader.over(bytes);
  return splitElements(element, reader, bytes.length).map(([start, end]) => bytes.subarray(start, end));
}

/** Elements as a backend joins them. */
export function joinElements(elements: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [index, element] of elements.entries()) {
    if (index > 0) parts.push(Uint8Array.of(SEPARATOR));
    parts.push(element);
  }
  return Buffer.concat(parts);
}

/** The entries of a map in the form of its serializer. @throws ByteFormatError; UndecodableValueError */
export function entriesOfMap({ mapKey, mapValue }: KeyedState, bytes: Uint8Array): MapContent {
  const reader = ByteReader.over(bytes);
  const content: MapContent = new Map();
  const count = reader.readCount('number of entries of a map', 1);
  for (let i = 0; i < count; i++) {
    const start = reader.position;
    mapKey?.skip(reader);
    const key = latin1(bytes.subarray(start, reader.position));
    if (reader.readU8('whether a value of a map is null') !== 0) {
      content.set(key, null);
      continue;
    }
    const value = reader.position;
    mapValue?.skip(reader, i === count - 1 ? bytes.length : undefined);
    content.set(key, bytes.subarray(value, reader.position));
  }
  if (reader.remaining > 0) reader.fail('the end of a map', `${reader.remaining} more bytes`);
  return content;
}

/** The entries of a map that an entry has, all or one of them, copied. @throws ByteFormatError; UndecodableValueError */
export function entriesOfEntry(state: KeyedState, entry: RawEntry): MapContent {
  const { valueBuffer, value, valueEnd, mapKey, mapKeyEnd, keyBuffer } = entry;
  const bytes = copy(valueBuffer, value, valueEnd);
  if (mapKey === NONE) return entriesOfMap(state, bytes);
  return new Map([[latin1(keyBuffer.subarray(mapKey, mapKeyEnd)), bytes[0] === 0 ? bytes.subarray(1) : null]]);
}
