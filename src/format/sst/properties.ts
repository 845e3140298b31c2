/** The metaindex and the properties of a RocksDB table. Origin: RocksDB `TablePropertiesNames`. */
import { BlockCursor } from './block.js';
import { type BlockHandle, readBlockHandle } from './footer.js';
import type { IndexEncoding } from './index-cursor.js';
import { readVarint } from './varint.js';

/** The name under which the metaindex has the properties. */
export const PROPERTIES_BLOCK = 'rocksdb.properties';
/** The name under which it has the index, from version 6 on. */
export const INDEX_BLOCK = 'rocksdb.index';
/** The name under which it has deletions of ranges. */
export const RANGE_DELETIONS_BLOCK = 'rocksdb.range_del';
/** The name under which it has the dictionary of the compressed blocks. */
export const DICTIONARY_BLOCK = 'rocksdb.compression_dict';
/** The beginning of the name of a filter that is itself an index of filter blocks. */
export const PARTITIONED_FILTER_PREFIX = 'partitionedfilter.';

/** How the index of a table is built. Origin: RocksDB `BlockBasedTableOptions::IndexType`. */
export type IndexType = 'binary-search' | 'hash-search' | 'two-level' | 'binary-search-with-first-key';
const INDEX_TYPES: readonly IndexType[] = ['binary-search', 'hash-search', 'two-level', 'binary-search-with-first-key'];

const GLOBAL_SEQUENCE = 'rocksdb.external_sst_file.global_seqno';

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
  /** What the keys are in the order of; RocksDB's usual one is `leveldb.BytewiseComparator`. */
  readonly comparator: string | undefined;
  /** The name of what joins values that were only added to; `nullptr` for none. */
  readonly mergeOperator: string | undefined;
  /** Which form of a table that was made outside of a database; undefined for all others. */
  readonly externalVersion: number | undefined;
  /** The sequence number of all entries of such a table, 0 if the database has it elsewhere. */
  readonly globalSequence: number;
  /** Where it stands in the properties block. */
  readonly globalSequenceAt: number | undefined;
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
  let globalSequenceAt: number | undefined;
  while (cursor.next()) {
    const name = Buffer.from(cursor.key).toString('latin1');
    all.set(name, Uint8Array.from(cursor.value));
    if (name === GLOBAL_SEQUENCE && cursor.value.length === 8) globalSequenceAt = cursor.valueStart;
  }
  const number = (name: string): number | undefined => {
    const value = all.get(name);
    return value && readVarint(value, 0, value.length, offset, name).value;
  };
  const type = all.get('rocksdb.block.based.table.index.type');
  // Four bytes, low one first; absent in tables that know one kind only.
  const indexType =
    type === undefined
      ? 'binary-search'
      : type.length === 4
        ? INDEX_TYPES[Buffer.from(type).readUInt32LE()]
        : undefined;
  const text = (name: string): string | undefined => {
    const value = all.get(name);
    return value && Buffer.from(value).toString('utf8');
  };
  const version = all.get('rocksdb.external_sst_file.version');
  const globalSequence = globalSequenceAt === undefined ? undefined : all.get(GLOBAL_SEQUENCE);
  return {
    indexType,
    indexEncoding: {
      valuesAreDeltas: number('rocksdb.index.value.is.delta.encoded') === 1,
      hasFirstKey: indexType === 'binary-search-with-first-key',
    },
    indexKeysAreUserKeys: number('rocksdb.index.key.is.user.key') === 1,
    columnFamily: text('rocksdb.column.family.name'),
    comparator: text('rocksdb.comparator'),
    mergeOperator: text('rocksdb.merge.operator'),
    externalVersion: version?.length === 4 ? Buffer.from(version).readUInt32LE() : undefined,
    globalSequence: globalSequence ? Number(Buffer.from(globalSequence).readBigUInt64LE()) : 0,
    globalSequenceAt,
    dataBlocks: number('rocksdb.num.data.blocks'),
    entries: number('rocksdb.num.entries'),
    all,
  };
}
