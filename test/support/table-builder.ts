/** Tables of RocksDB by hand: one data block, no compression, no checksums, so that anything can be put into them. */
import { join } from './byte-builder.js';

/** An entry as it is stored. */
export interface StoredEntry {
  readonly key: string;
  readonly sequence: number;
  /** The number of its kind. */
  readonly type: number;
  readonly value: string;
}

/** What the properties say of a table. */
export interface StoredProperties {
  readonly comparator?: string;
  readonly mergeOperator?: string;
}

const varint = (value: number): Uint8Array => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
};

const handle = (offset: number, size: number): Uint8Array => join(varint(offset), varint(size));

/** A block of entries that share nothing, with its trailer. */
function block(entries: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  const parts = entries.map(([key, value]) => join(varint(0), varint(key.length), varint(value.length), key, value));
  // One restart point, at the start.
  return join(...parts, Buffer.from('0000000001000000', 'hex'), new Uint8Array(5));
}

/** The key of an entry with its suffix. */
export function storedKey({ key, sequence, type }: Omit<StoredEntry, 'value'>): Uint8Array {
  const suffix = Buffer.alloc(8);
  suffix.writeBigUInt64LE((BigInt(sequence) << 8n) | BigInt(type));
  return join(Buffer.from(key, 'latin1'), suffix);
}

/** A table of format version 5 with these entries, in this order. */
export function table(entries: readonly StoredEntry[], properties: StoredProperties = {}): Uint8Array {
  const { comparator = 'leveldb.BytewiseComparator', mergeOperator = 'StringAppendTESTOperator' } = properties;
  const data = block(entries.map((entry) => [storedKey(entry), Buffer.from(entry.value, 'latin1')]));
  const last = storedKey({ key: '\xff'.repeat(9), sequence: 0, type: 0 });
  const index = block([[last, handle(0, data.length - 5)]]);
  const stored = block([
    [Buffer.from('rocksdb.comparator'), Buffer.from(comparator)],
    [Buffer.from('rocksdb.merge.operator'), Buffer.from(mergeOperator)],
  ]);
  const [indexAt, storedAt] = [data.length, data.length + index.length];
  const metaindex = block([[Buffer.from('rocksdb.properties'), handle(storedAt, stored.length - 5)]]);
  const metaindexAt = storedAt + stored.length;
  const handles = join(handle(metaindexAt, metaindex.length - 5), handle(indexAt, index.length - 5));
  const footer = Buffer.alloc(53);
  footer.set(handles, 1);
  footer.writeUInt32LE(5, 41);
  footer.writeBigUInt64LE(0x88e241b785f4cff7n, 45);
  return join(data, index, stored, metaindex, footer);
}
