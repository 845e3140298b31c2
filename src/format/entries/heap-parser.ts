/**
 * Entries of a key group in the heap backend's own form: its number, then for each state its id, how many entries, and the
 * entries one behind the other without lengths. Origin: Flink `HeapSnapshotStrategy`, `StateTableByKeyGroupReaders`.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { KeyedState } from './named-state.js';
import { type EntryParser, RawEntry } from './raw-entry.js';

const TIMESTAMP_BYTES = 8;

/** See the file comment. The window must start at the number of the key group. */
export class HeapParser implements EntryParser<RawEntry> {
  /** The state that is being read; undefined between two. */
  state: KeyedState | undefined;
  /** Entries of it that are still to come. */
  left = 0;
  private statesLeft: number;
  private isBegun = false;
  private readonly met = new Set<KeyedState>();

  constructor(
    private readonly keyGroup: number,
    private readonly states: readonly KeyedState[],
  ) {
    this.statesLeft = states.length;
  }

  get isDone(): boolean {
    return this.isBegun && this.left === 0 && this.statesLeft === 0;
  }

  next(reader: ByteReader): RawEntry | undefined {
    const { state } = this;
    if (!this.isBegun) {
      this.readKeyGroup(reader);
    } else if (this.left === 0 || state === undefined) {
      this.readState(reader);
    } else {
      const entry = state.valueSnapshot === undefined ? this.readTimer(reader, state) : this.readEntry(reader, state);
      this.left--;
      return entry;
    }
    return undefined;
  }

  /** Gives up the state that is being read: the next thing is the head of another one. */
  skipState(): void {
    this.left = 0;
  }

  /** States whose part has not begun. */
  unreached(): readonly KeyedState[] {
    return this.states.filter((state) => !this.met.has(state));
  }

  private readKeyGroup(reader: ByteReader): void {
    const at = reader.offset;
    const number = reader.readI32('number of a key group');
    if (number !== this.keyGroup) reader.fail(`key group ${this.keyGroup}`, `${number}`, at);
    this.isBegun = true;
  }

  private readState(reader: ByteReader): void {
    const at = reader.offset;
    const id = reader.readI16('id of a state');
    const state = this.states[id];
    if (!state)
      reader.fail(`the id of a state (below ${this.states.length}) in key group ${this.keyGroup}`, `${id}`, at);
    const count = reader.readI32('number of entries');
    if (count < 0) reader.fail(`the number of entries in key group ${this.keyGroup}`, `${count}`, at + 2);
    this.state = state;
    this.met.add(state);
    this.left = count;
    this.statesLeft--;
  }

  private readEntry(reader: ByteReader, state: KeyedState): RawEntry {
    const entry = new RawEntry(state, this.keyGroup, reader.buffer, reader.buffer);
    entry.namespace = reader.position;
    state.namespace.skip(reader);
    entry.namespaceEnd = reader.position;
    entry.key = reader.position;
    state.key.skip(reader);
    entry.keyEnd = reader.position;
    entry.value = reader.position;
    state.value?.skip(reader);
    entry.valueEnd = reader.position;
    entry.form = 'whole';
    return entry;
  }

  private readTimer(reader: ByteReader, state: KeyedState): RawEntry {
    const entry = new RawEntry(state, this.keyGroup, reader.buffer, reader.buffer);
    entry.timestamp = reader.take(TIMESTAMP_BYTES, 'timestamp of a timer');
    entry.isFlipped = true;
    entry.key = reader.position;
    state.key.skip(reader);
    entry.keyEnd = reader.position;
    entry.namespace = reader.position;
    state.namespace.skip(reader);
    entry.namespaceEnd = reader.position;
    return entry;
  }
}
