/** Makes rows of raw entries: entries of one map together, keys that are not wanted left out, values decoded. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { EntryDecoder, type MapEntry } from '../../format/entries/decode-entry.js';
import { NONE, type RawEntry } from '../../format/entries/raw-entry.js';
import type { StateValue } from '../../format/value/value-serializer.js';
import type { Batch } from './parse-region.js';
import type { Row } from './rows.js';
import type { RawBatches } from './walk-context.js';

/** Entries of a map that are handed on at once. */
const MAP_PART_ENTRIES = 4096;

/** Which entries are wanted, by key and namespace. */
export interface KeyFilter {
  /** The exact bytes of the key. */
  readonly keyBytes?: Uint8Array | undefined;
  /** Asked about each key that `keyBytes` lets through. */
  readonly acceptsKey?: ((key: StateValue) => boolean) | undefined;
  readonly acceptsNamespace?: ((namespace: StateValue) => boolean) | undefined;
}

/** What of an entry is wanted. */
export interface RowOptions extends KeyFilter {
  readonly subtask: number;
  /** `keys`: no values. `nothing`: only {@link KeyedRows.count} is of interest. Asked for each entry. */
  wants(): 'values' | 'keys' | 'nothing';
  /** Told of each entry, also one of which nothing else is wanted; of a map once. */
  onEntry(entry: RawEntry): void;
}

/**
 * Rows in the order of the entries.
 * @throws ByteFormatError with offsets of the piece; the errors of reading
 */
export async function* keyedRows(batches: RawBatches, options: RowOptions): AsyncGenerator<readonly Row[], void> {
  const rows = new KeyedRows(options);
  for await (const batch of batches) {
    const made = rows.take(batch);
    if (made.length > 0) yield made;
  }
  const last = rows.finish();
  if (last.length > 0) yield last;
}

/** A row while it is made: copies of millions of them would cost more than all else. */
type MadeRow = { -readonly [K in keyof Row]: Row[K] };

/** A map of which more entries may follow. */
interface OpenMap {
  readonly row: Row;
  readonly state: RawEntry['state'];
  readonly keyGroup: number;
  /** Key and namespace as bytes. */
  readonly identity: Buffer;
  readonly wants: 'values' | 'keys' | 'nothing';
  readonly isAccepted: boolean;
  entries: MapEntry[];
  isBegun: boolean;
}

class KeyedRows {
  private readonly decoder = new EntryDecoder();
  private map: OpenMap | undefined;
  private rows: Row[] = [];

  constructor(private readonly options: RowOptions) {}

  take(batch: Batch<RawEntry>): Row[] {
    this.rows = [];
    try {
      for (const entry of batch.entries) this.takeEntry(entry);
    } catch (error) {
      throw error instanceof ByteFormatError ? batch.locate(error) : error;
    }
    return this.rows;
  }

  finish(): Row[] {
    this.rows = [];
    this.endMap();
    return this.rows;
  }

  private takeEntry(entry: RawEntry): void {
    if (entry.mapKey !== NONE) {
      this.takeMapEntry(entry);
      return;
    }
    this.endMap();
    const accepted = this.accept(entry);
    if (!accepted) return;
    const wants = this.options.wants();
    this.options.onEntry(entry);
    if (wants === 'nothing') return;
    const row = this.rowOf(entry, accepted);
    if (entry.timestamp !== NONE) row.timestamp = this.decoder.timestamp(entry);
    else if (wants === 'values' && entry.state.kind === 'map') row.entries = this.decoder.mapEntries(entry);
    else if (wants === 'values') row.value = this.decoder.value(entry);
    this.rows.push(row);
  }

  private takeMapEntry(entry: RawEntry): void {
    if (!this.map || !belongsTo(entry, this.map)) this.beginMap(entry);
    const { map } = this;
    if (!map?.isAccepted || map.wants !== 'values') return;
    map.entries.push(...this.decoder.mapEntries(entry));
    if (map.entries.length >= MAP_PART_ENTRIES) this.emitPart(map, map.isBegun ? 'middle' : 'first');
  }

  private beginMap(entry: RawEntry): void {
    this.endMap();
    const accepted = this.accept(entry);
    const wants = accepted ? this.options.wants() : 'nothing';
    if (accepted) this.options.onEntry(entry);
    this.map = {
      row: accepted && wants !== 'nothing' ? this.rowOf(entry, accepted) : EMPTY_ROW,
      state: entry.state,
      keyGroup: entry.keyGroup,
      identity: Buffer.from(identityOf(entry)),
      wants,
      isAccepted: accepted !== undefined,
      entries: [],
      isBegun: false,
    };
    if (wants === 'keys') this.rows.push(this.map.row);
  }

  private endMap(): void {
    const { map } = this;
    this.map = undefined;
    if (map?.isAccepted && map.wants === 'values') this.emitPart(map, map.isBegun ? 'last' : undefined);
  }

  private emitPart(map: OpenMap, part: Row['part']): void {
    this.rows.push({ ...map.row, entries: map.entries, ...(part && { part }) });
    map.entries = [];
    map.isBegun = true;
  }

  /** Key and namespace as far as they had to be decoded; undefined if they are not wanted. */
  private accept(entry: RawEntry): { readonly key?: StateValue; readonly namespace?: StateValue } | undefined {
    const { keyBytes, acceptsKey, acceptsNamespace } = this.options;
    if (keyBytes && !isBytes(entry, keyBytes)) return undefined;
    let found: { key?: StateValue; namespace?: StateValue } = {};
    if (acceptsKey) {
      const key = this.decoder.key(entry);
      if (!acceptsKey(key)) return undefined;
      found = { key };
    }
    if (acceptsNamespace) {
      const namespace = this.decoder.namespace(entry);
      if (!acceptsNamespace(namespace)) return undefined;
      found = { ...found, namespace };
    }
    return found;
  }

  private rowOf(entry: RawEntry, { key, namespace }: { key?: StateValue; namespace?: StateValue }): MadeRow {
    const { state, keyGroup } = entry;
    const row: MadeRow = {
      state: state.name,
      kind: state.kind,
      subtask: this.options.subtask,
      keyGroup,
      key: key === undefined ? this.decoder.key(entry) : key,
      namespace: namespace === undefined ? this.decoder.namespace(entry) : namespace,
    };
    if (state.ttl) row.ttl = true;
    return row;
  }
}

const EMPTY_ROW: Row = { state: '', kind: 'map', subtask: 0, keyGroup: 0 };

function belongsTo(entry: RawEntry, { state, keyGroup, identity }: OpenMap): boolean {
  return entry.state === state && entry.keyGroup === keyGroup && identity.equals(identityOf(entry));
}

/** In a backend's key, from the key on up to the key of the map. */
function identityOf({ keyBuffer, key, mapKey }: RawEntry): Uint8Array {
  return keyBuffer.subarray(key, mapKey);
}

function isBytes({ keyBuffer, key, keyEnd }: RawEntry, bytes: Uint8Array): boolean {
  if (keyEnd - key !== bytes.length) return false;
  for (let i = 0; i < bytes.length; i++) if (keyBuffer[key + i] !== bytes[i]) return false;
  return true;
}
