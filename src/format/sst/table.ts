/** Opens a RocksDB table: footer, metaindex, properties and index. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { RangedPass } from '../byte-request.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import {
  BLOCK_TRAILER_BYTES,
  type BlockBasedFooter,
  type BlockHandle,
  checkHandle,
  FOOTER_BYTES,
  parseFooter,
} from './footer.js';
import { INDEX_BLOCK, PROPERTIES_BLOCK, parseMetaindex, parseProperties, type TableProperties } from './properties.js';
import { blockContents, checkBlock } from './table-block.js';

/** A larger block is not held in memory; Flink's are some kilobytes, unless a single value is that big. */
export const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/** A table that is open: what one needs to find its entries. */
export interface SstTable {
  /** Bytes of the file. */
  readonly size: number;
  readonly footer: BlockBasedFooter;
  /** Where blocks end. */
  readonly limit: number;
  readonly properties: TableProperties;
  /** The other blocks that are no data, by name. */
  readonly metaindex: ReadonlyMap<string, BlockHandle>;
  /** The index, or its top level. */
  readonly index: { readonly handle: BlockHandle; readonly contents: Uint8Array };
}

/** Options of {@link openTable}. */
export interface OpenTableOptions {
  /**
   * Bytes at the end of the file that are asked for at once: properties and a small index are there as well. Default: the
   * footer alone.
   */
  readonly tailBytes?: number;
}

/**
 * Opens a table.
 * @param size bytes of the file
 * @throws ByteFormatError if it is none, or is damaged; UnknownFormatError for a form that is not known here
 */
export function* openTable(size: number, options: OpenTableOptions = {}): RangedPass<SstTable> {
  const tail = new Tail(size, Math.max(FOOTER_BYTES, options.tailBytes ?? 0));
  const end = yield* tail.read(Math.max(0, size - FOOTER_BYTES), size);
  const footer = parseFooter(end, size);
  if (footer.kind === 'unsupported') throw new UnknownFormatError(Math.max(0, size - FOOTER_BYTES), footer.form);
  const limit = size - footer.size;
  const read = function* (handle: BlockHandle, at: number): RangedPass<Uint8Array> {
    checkHandle(handle, limit, at);
    checkBlockSize(handle);
    return yield* tail.read(handle.offset, handle.offset + handle.size + BLOCK_TRAILER_BYTES);
  };
  const { metaindex: top } = footer;
  const metaBlock = yield* read(top, limit);
  checkBlock(metaBlock, 0, top, footer);
  const metaindex = parseMetaindex(blockContents(metaBlock, top.offset, footer), top.offset);
  for (const handle of metaindex.values()) checkHandle(handle, limit, top.offset);

  const propertiesHandle = metaindex.get(PROPERTIES_BLOCK);
  if (propertiesHandle === undefined) {
    throw new ByteFormatError(top.offset, 'the properties of a table', 'a metaindex without them');
  }
  const properties = readProperties(yield* read(propertiesHandle, top.offset), propertiesHandle, footer);
  if (properties.indexType === undefined) {
    throw new ByteFormatError(propertiesHandle.offset, 'an index type (0 to 3)', 'another number');
  }
  const handle = footer.index ?? metaindex.get(INDEX_BLOCK);
  if (handle === undefined) {
    throw new ByteFormatError(top.offset, 'the index of a table', 'a metaindex without it');
  }
  const indexBlock = yield* read(handle, limit);
  checkBlock(indexBlock, 0, handle, footer);
  const contents = blockContents(indexBlock, handle.offset, footer);
  return { size, footer, limit, properties, metaindex, index: { handle, contents } };
}

/** @throws ByteFormatError for a block that is not held in memory */
export function checkBlockSize(handle: BlockHandle): void {
  if (handle.size <= MAX_BLOCK_BYTES) return;
  throw new ByteFormatError(handle.offset, `a block of at most ${MAX_BLOCK_BYTES} bytes`, `${handle.size} bytes`);
}

/** Reads and checks one block. @throws ByteFormatError; UnknownFormatError */
export function* readTableBlock({ footer, limit }: SstTable, handle: BlockHandle, at: number): RangedPass<Uint8Array> {
  checkHandle(handle, limit, at);
  checkBlockSize(handle);
  const block = yield { start: handle.offset, end: handle.offset + handle.size + BLOCK_TRAILER_BYTES };
  checkBlock(block, 0, handle, footer);
  return blockContents(block, handle.offset, footer, MAX_BLOCK_BYTES);
}

/**
 * The sequence number of all entries of a table that was made outside of the database; undefined for all others.
 * @param largest the highest one by the MANIFEST, if that is known
 * Origin: RocksDB `GetGlobalSequenceNumber`.
 */
export function globalSequenceOf({ properties }: SstTable, largest: number | undefined): number | undefined {
  const { externalVersion, globalSequence } = properties;
  if (externalVersion === undefined || externalVersion < 2) return undefined;
  if (globalSequence > 0) return globalSequence;
  return largest ?? 0;
}

function readProperties(block: Uint8Array, handle: BlockHandle, footer: BlockBasedFooter): TableProperties {
  try {
    checkBlock(block, 0, handle, footer);
  } catch (error) {
    // A database that takes a foreign table in may write the sequence number into it, and leaves the checksum.
    const at = parseProperties(blockContents(block, handle.offset, footer), handle.offset).globalSequenceAt;
    if (at === undefined) throw error;
    const before = Uint8Array.from(block);
    before.fill(0, at, at + 8);
    checkBlock(before, 0, handle, footer);
  }
  return parseProperties(blockContents(block, handle.offset, footer), handle.offset);
}

/** The end of a file, which is asked for once. */
class Tail {
  private bytes: Uint8Array | undefined;
  private readonly start: number;

  constructor(
    private readonly size: number,
    tailBytes: number,
  ) {
    this.start = Math.max(0, size - tailBytes);
  }

  *read(start: number, end: number): RangedPass<Uint8Array> {
    if (start < this.start) return yield { start, end };
    this.bytes ??= Uint8Array.from(yield { start: this.start, end: this.size });
    return this.bytes.subarray(start - this.start, end - this.start);
  }
}
