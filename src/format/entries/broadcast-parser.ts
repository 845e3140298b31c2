/** A broadcast state: how many entries, then each key and value. Origin: Flink `HeapBroadcastState`. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { StateValue } from '../value/value-serializer.js';
import type { OperatorState } from './named-state.js';
import type { EntryParser } from './raw-entry.js';

/** See the file comment. The window must start at the offset of the state. */
export class BroadcastParser implements EntryParser<{ readonly key: StateValue; readonly value: StateValue }> {
  /** Entries that are still to come; undefined before the count was read. */
  left: number | undefined;

  constructor(private readonly state: OperatorState) {}

  get isDone(): boolean {
    return this.left === 0;
  }

  next(reader: ByteReader): { readonly key: StateValue; readonly value: StateValue } | undefined {
    const { left, state } = this;
    if (left === undefined) {
      const at = reader.offset;
      const count = reader.readI32('number of entries of a broadcast state');
      if (count < 0) reader.fail('number of entries of a broadcast state', `${count}`, at);
      this.left = count;
      return undefined;
    }
    const key = (state.key ?? state.value).read(reader);
    const value = state.value.read(reader);
    this.left = left - 1;
    return { key, value };
  }
}
