/** An entry of keyed state as it lies in a file, whatever its form: where key, namespace and value are. Nothing is decoded. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { KeyedState } from './named-state.js';

/** No such part. */
export const NONE = -1;

/**
 * How a value is written. `whole`: by the serializer of the state. `joined`: elements of a list with a byte between them.
 * `element`: one of a list, or the value of a map entry, by its own serializer. `map-entry`: a flag for null, then the value.
 */
export type ValueForm = 'whole' | 'joined' | 'map-entry' | 'none';

/**
 * See the file comment. Indexes are into the two buffers, ends are exclusive. Valid until the next entries are asked for:
 * the buffers are windows of a file.
 */
export class RawEntry {
  key = 0;
  keyEnd = 0;
  namespace = 0;
  namespaceEnd = 0;
  /** Only of one entry of a map. */
  mapKey = NONE;
  mapKeyEnd = NONE;
  /** Only of timers: 64 bits in the buffer of the key. */
  timestamp = NONE;
  /** The sign bit of the timestamp is turned, so that it sorts as bytes. */
  isFlipped = false;
  value = 0;
  valueEnd = 0;
  form: ValueForm = 'none';

  constructor(
    readonly state: KeyedState,
    readonly keyGroup: number,
    readonly keyBuffer: Uint8Array,
    readonly valueBuffer: Uint8Array,
  ) {}
}

/** Takes entries from the front of a window, one by one. A failure changes nothing: the same can be tried with more bytes. */
export interface EntryParser<T> {
  /** Nothing follows. */
  readonly isDone: boolean;
  /**
   * Reads up to the next entry.
   * @param reader over a window; it stands behind what was read afterwards
   * @returns undefined if what was read is no entry
   * @throws ByteFormatError, also if the window ends too early; UndecodableValueError
   */
  next(reader: ByteReader): T | undefined;
}
