/** The metaindex and the properties of a RocksDB table. Origin: RocksDB `TablePropertiesNames`. */
import { BlockCursor, type IndexEncoding } from './block.js';
import { type BlockHandle, readBlockHandle } from './footer.js';
import { readVarint } from './varint.js';

/** The name under which the metaindex has the properties. */
export const PROPERTIES_BLOCK = 'rocksdb.properties';
/** The beginning of the name of a filter that is itself an index of filter blocks. */
export const PARTITIONED_FILTER_PREFIX = 'partitionedfilter.';

/** How the index of a table is built. Origin: RocksDB `BlockBasedTableOptions::IndexType`. */
export type IndexType = 'binary-search' | 'hash-search' | 'two-level' | 'binary-search-with-first-key';
const INDEX_TYPES: readonly IndexType[] = ['binary-search', 'hash-search', 'two-level', 'binary-search-with-first-key'];

/** Properties as they are stored, by name. */
export type RawProperties = ReadonlyMap<string, Uint8Array>;

/** What is known of the table from its properties. */
export interface TableProperties {
  /** Undefined for a number that no known RocksDB gives. */
  readonly indexType: IndexType | undefined;
  readonly indexEncoding: IndexEncoding;
  /** Keys of the index lack the sequence number. */
  readonly indexKeysAreUserKeys: boolean;
  /** In Flink the name of the state. */
  readonly columnFamily: string | undefined;
  readonly dataBlocks: number | undefined;
  readonly entries: number | undefined;
  readonly all: RawProperties;
}

/**
 * The names of the metaindex with the handles of their blocks.
 * @param offset of the block in the file, for errors
 * @throws ByteFormatError
 */
export function parseMetaindex(contents: Uint8Array, offset: number): Map<string, BlockHandle> {
  const blocks = new Map<string, BlockHandle>();
  const cursor = new BlockCursor(contents, offset);
  while (cursor.next()) {
    const { value } = cursor;
    const name = Buffer.from(cursor.key).toString('latin1');
    blocks.set(name, readBlockHandle(value, 0, value.length, offset, `the handle of ${name}`).handle);
  }
  return blocks;
}

/**
 * The properties block.
 * @param offset of the block in the file, for errors
 * @throws ByteFormatError
 */
export function parseProperties(contents: Uint8Array, offset: number): TableProperties {
  const all = new Map<string, Uint8Array>();
  const cursor = new BlockCursor(contents, offset);
  while (cursor.next()) all.set(Buffer.from(cursor.key).toString('latin1'), Uint8Array.from(cursor.value));
  const number = (name: string): number | undefined => {
    const value = all.get(name);
    return value && readVarint(value, 0, value.length, offset, name).value;
  };
  const type = all.get('rocksdb.block.based.table.index.type');
  // Four bytes, low one first; absent in tables that know one kind only.
  const indexType = type === undefined ? 'binary-search' : INDEX_TYPES[Buffer.from(type).readUIntLE(0, type.length)];
  const columnFamily = all.get('rocksdb.column.family.name');
  return {
    indexType,
    indexEncoding: {
      valuesAreDeltas: number('rocksdb.index.value.is.delta.encoded') === 1,
      hasFirstKey: indexType === 'binary-search-with-first-key',
    },
    indexKeysAreUserKeys: number('rocksdb.index.key.is.user.key') === 1,
    columnFamily: columnFamily && Buffer.from(columnFamily).toString('utf8'),
    dataBlocks: number('rocksdb.num.data.blocks'),
    entries: number('rocksdb.num.entries'),
    all,
  };
}
