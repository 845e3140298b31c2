/**
 * Entries of a key group in the unified ("canonical") form. Keys and values have their lengths, so that one of a class that
 * is not known can be skipped. Origin: Flink `FullSnapshotAsyncWriter`.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import { UndecodableValueError } from '../value/value-serializer.js';
import { backendEntry, type Part } from './backend-entry.js';
import type { KeyedState } from './named-state.js';
import type { EntryParser, RawEntry } from './raw-entry.js';

const END_OF_KEY_GROUP = 0xffff;
/** Set in the first byte of a key: no further entry of this state follows. */
const LAST_ENTRY_FLAG = 0x80;

/** Options of {@link UnifiedParser}. */
export interface UnifiedParserOptions {
  /** Entries of other states are passed over; default: of none. */
  readonly wanted?: ReadonlySet<KeyedState>;
  /** Told of an entry whose key cannot be taken apart, which is passed over. Default: the error is thrown. */
  readonly onUnsplit?: (state: KeyedState, error: UndecodableValueError) => void;
}

/** See the file comment. The window must start at the offset of the key group. */
export class UnifiedParser implements EntryParser<RawEntry> {
  isDone = false;
  private state: KeyedState | undefined;
  private entries = 0;

  constructor(
    private readonly keyGroup: number,
    private readonly prefixBytes: 1 | 2,
    private readonly states: readonly KeyedState[],
    private readonly options: UnifiedParserOptions,
  ) {}

  next(reader: ByteReader): RawEntry | undefined {
    if (this.state) return this.readEntry(reader, this.state);
    this.readState(reader);
    return undefined;
  }

  private readState(reader: ByteReader): void {
    const at = reader.offset;
    const id = reader.readU16('id of a state');
    if (id === END_OF_KEY_GROUP && this.entries > 0) {
      this.isDone = true;
      return;
    }
    this.state = this.states[id];
    if (!this.state)
      reader.fail(`the id of a state (below ${this.states.length}) in key group ${this.keyGroup}`, `${id}`, at);
  }

  private readEntry(reader: ByteReader, state: KeyedState): RawEntry | undefined {
    const { keyGroup, prefixBytes } = this;
    const { buffer } = reader;
    const keyLength = this.readLength(reader, 'length of a key', prefixBytes);
    const start = reader.take(keyLength, 'a key');
    const valueLength = this.readLength(reader, 'length of a value', 0);
    const value = reader.take(valueLength, 'a value');
    const end = reader.position;
    const keyEnd = start + keyLength;
    const first = buffer[start] as number;
    const isLast = (first & LAST_ENTRY_FLAG) !== 0;
    const prefix = first & ~LAST_ENTRY_FLAG;
    const found = prefixBytes === 1 ? prefix : (prefix << 8) | (buffer[start + 1] as number);
    if (found !== keyGroup)
      reader.fail(`a key of key group ${keyGroup}`, `one of ${found}`, reader.offset - end + start);
    const entry = this.split(reader, state, { start: start + prefixBytes, end: keyEnd }, { buffer, start: value, end });
    reader.position = end;
    this.entries++;
    if (isLast) this.state = undefined;
    return entry;
  }

  private split(
    reader: ByteReader,
    state: KeyedState,
    key: { readonly start: number; readonly end: number },
    value: Part,
  ): RawEntry | undefined {
    const { wanted, onUnsplit } = this.options;
    if (wanted && !wanted.has(state)) return undefined;
    try {
      return backendEntry(state, this.keyGroup, reader, key, value);
    } catch (error) {
      if (!(error instanceof UndecodableValueError) || !onUnsplit) throw error;
      onUnsplit(state, error);
      return undefined;
    }
  }

  /** @throws ByteFormatError if it is less than `least`, or more than there can be */
  private readLength(reader: ByteReader, reading: string, least: number): number {
    const at = reader.offset;
    const length = reader.readI32(reading);
    if (length < least) reader.fail(reading, `${length}`, at);
    return length;
  }
}
