/**
 * Keys and values as RocksDB and ForSt hold them, and the unified form with them: key group, key, namespace and key of a map
 * in one row of bytes. Origin: Flink `SerializedCompositeKeyBuilder`, `CompositeKeySerializationUtils`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ValueSerializer } from '../value/value-serializer.js';
import type { KeyedState } from './named-state.js';
import { RawEntry } from './raw-entry.js';

const TIMESTAMP_BYTES = 8;
/** The void namespace is said to have no length, and takes a byte. */
const VOID_BYTES = 1;

/** A part of a buffer. */
export interface Part {
  readonly buffer: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Takes a key apart.
 * @param reader over the buffer of the key
 * @param start of the key, behind the number of its key group
 * @throws ByteFormatError; UndecodableValueError if nobody knows where a part ends
 */
export function backendEntry(
  state: KeyedState,
  keyGroup: number,
  reader: ByteReader,
  key: { readonly start: number; readonly end: number },
  value: Part,
): RawEntry {
  const entry = new RawEntry(state, keyGroup, reader.buffer, value.buffer);
  reader.position = key.start;
  if (state.valueSnapshot === undefined) splitTimer(entry, state, reader, key.end);
  else splitKey(entry, state, reader, key.end);
  entry.value = value.start;
  entry.valueEnd = value.end;
  return entry;
}

function splitTimer(entry: RawEntry, state: KeyedState, reader: ByteReader, end: number): void {
  entry.timestamp = reader.take(TIMESTAMP_BYTES, 'timestamp of a timer');
  entry.isFlipped = true;
  entry.key = reader.position;
  state.key.skip(reader, endOfKey(state, end));
  entry.keyEnd = reader.position;
  entry.namespace = reader.position;
  state.namespace.skip(reader, end);
  entry.namespaceEnd = reader.position;
  checkEnd(reader, end);
}

function splitKey(entry: RawEntry, state: KeyedState, reader: ByteReader, end: number): void {
  const isMap = state.kind === 'map';
  entry.key = reader.position;
  state.key.skip(reader, isMap || state.hasLengths ? undefined : endOfKey(state, end));
  entry.keyEnd = reader.position;
  if (state.hasLengths) skipLength(reader, entry.keyEnd - entry.key);
  entry.namespace = reader.position;
  state.namespace.skip(reader, isMap || state.hasLengths ? undefined : end);
  entry.namespaceEnd = reader.position;
  if (state.hasLengths) skipLength(reader, entry.namespaceEnd - entry.namespace);
  if (isMap) {
    entry.mapKey = reader.position;
    entry.mapKeyEnd = end;
    if (reader.position > end) checkEnd(reader, end);
    reader.position = end;
  } else {
    checkEnd(reader, end);
  }
  entry.form = isMap ? 'map-entry' : state.kind === 'list' ? 'joined' : 'whole';
}

/** Where a key ends of which only that can be known; undefined where it tells itself, or nobody knows. */
function endOfKey({ key, namespace }: KeyedState, end: number): number | undefined {
  if (key.undecodable === undefined) return undefined;
  const bytes = lengthInKey(namespace);
  return bytes === undefined ? undefined : end - bytes;
}

function lengthInKey({ length }: ValueSerializer): number | undefined {
  return length === 0 ? VOID_BYTES : length;
}

/** The length of what came before: the lowest byte first, as many bytes as it takes. */
function skipLength(reader: ByteReader, expected: number): void {
  const at = reader.offset;
  for (let rest = expected, isFirst = true; isFirst || rest > 0; rest = Math.floor(rest / 256), isFirst = false) {
    const byte = reader.readU8('length of a part of a key');
    if (byte !== rest % 256) reader.fail(`the length ${expected} of the part of a key before it`, `another one`, at);
  }
}

function checkEnd(reader: ByteReader, end: number): void {
  const { position } = reader;
  if (position === end) return;
  throw new ByteFormatError(
    reader.offset,
    'the end of a key',
    position < end ? `${end - position} more bytes` : `it ${position - end} bytes before`,
  );
}
