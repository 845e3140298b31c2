/** Goes through a whole RocksDB table and compares every block with its checksum. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteRequest, RangedPass } from '../byte-request.js';
import { blockContents, checkBlock, IndexCursor, type IndexEncoding } from './block.js';
import {
  BLOCK_TRAILER_BYTES,
  BlockChecksum,
  type BlockHandle,
  checkHandle,
  FOOTER_BYTES,
  parseFooter,
  type SstFooter,
} from './footer.js';
import { PARTITIONED_FILTER_PREFIX, PROPERTIES_BLOCK, parseMetaindex, parseProperties } from './properties.js';

/** Neighbouring data blocks are asked for together up to this many bytes. */
const BATCH_BYTES = 1024 * 1024;
/** A larger block is not held in memory; Flink's are some kilobytes, unless a single value is that big. */
const MAX_BLOCK_BYTES = 64 * 1024 * 1024;

/** What a pass over a table found out. */
export interface TableCheck {
  /** The form of a table that cannot be read here; null if it was. Nothing was checked then. */
  readonly unsupported: string | null;
  /** Blocks that agree with their checksums. */
  readonly checkedBlocks: number;
  /** Blocks that could not be judged: without a checksum, with one of a kind not known here, or too large. */
  readonly uncheckedBlocks: number;
  readonly checksum: BlockChecksum;
  /** Bytes of the file that belong to no block and not to the footer. */
  readonly unusedBytes: number;
  /** In Flink the name of the state. */
  readonly columnFamily: string | undefined;
}

/**
 * Checks footer, metaindex, properties, index and every block of a table.
 * @param size bytes of the file
 * @throws ByteFormatError at the first thing that is not as it should be
 */
export function* checkTable(size: number): RangedPass<TableCheck> {
  const footer = parseFooter(yield { start: Math.max(0, size - FOOTER_BYTES), end: size }, size);
  if (footer.kind === 'unsupported') {
    return {
      unsupported: footer.form,
      checkedBlocks: 0,
      uncheckedBlocks: 0,
      checksum: BlockChecksum.None,
      unusedBytes: 0,
      columnFamily: undefined,
    };
  }
  return yield* new TableChecker(size, footer).run();
}

type BlockBasedFooter = Extract<SstFooter, { kind: 'block-based' }>;

class TableChecker {
  private checkedBlocks = 0;
  private uncheckedBlocks = 0;
  private usedBytes = 0;
  private readonly limit: number;

  constructor(
    private readonly size: number,
    private readonly footer: BlockBasedFooter,
  ) {
    this.limit = size - footer.size;
  }

  *run(): RangedPass<TableCheck> {
    const { footer, limit } = this;
    const meta = yield* this.meta(footer.metaindex);
    const others = parseMetaindex(meta, footer.metaindex.offset);
    const propertiesHandle = others.get(PROPERTIES_BLOCK);
    if (propertiesHandle === undefined) {
      throw new ByteFormatError(footer.metaindex.offset, 'the properties of a table', 'a metaindex without them');
    }
    for (const handle of others.values()) checkHandle(handle, limit, footer.metaindex.offset);
    const properties = parseProperties(yield* this.meta(propertiesHandle), propertiesHandle.offset);
    if (properties.indexType === undefined) {
      throw new ByteFormatError(propertiesHandle.offset, 'an index type (0 to 3)', 'another number');
    }
    const index = yield* this.meta(footer.index);
    const dataBlocks =
      properties.indexType === 'two-level'
        ? yield* this.twoLevelIndex(index, properties.indexEncoding)
        : yield* this.dataBlocks(index, footer.index.offset, properties.indexEncoding);
    if (properties.dataBlocks !== undefined && properties.dataBlocks !== dataBlocks) {
      throw new ByteFormatError(footer.index.offset, `an index of ${properties.dataBlocks} blocks`, `${dataBlocks}`);
    }
    for (const [name, handle] of others) {
      if (name === PROPERTIES_BLOCK) continue;
      const block = yield* this.block(handle);
      if (block === undefined || !name.startsWith(PARTITIONED_FILTER_PREFIX)) continue;
      yield* this.blocksOf(blockContents(block, handle.offset), handle.offset, properties.indexEncoding);
    }
    return {
      unsupported: null,
      checkedBlocks: this.checkedBlocks,
      uncheckedBlocks: this.uncheckedBlocks,
      checksum: footer.checksum,
      unusedBytes: limit - this.usedBytes,
      columnFamily: properties.columnFamily,
    };
  }

  /** Reads and checks a block; undefined if it is too large to be judged. */
  private *block(handle: BlockHandle): RangedPass<Uint8Array | undefined> {
    if (handle.size > MAX_BLOCK_BYTES) {
      this.uncheckedBlocks++;
      this.count(handle);
      return undefined;
    }
    this.count(handle);
    const block = yield { start: handle.offset, end: handle.offset + handle.size + BLOCK_TRAILER_BYTES };
    this.judge(block, 0, handle);
    return block;
  }

  /** Blocks do not overlap, so that no table can make a pass read more than the file. */
  private count(handle: BlockHandle): void {
    this.usedBytes += handle.size + BLOCK_TRAILER_BYTES;
    if (this.usedBytes > this.limit) {
      throw new ByteFormatError(handle.offset, 'a block apart from the others', 'one that overlaps');
    }
  }

  private judge(bytes: Uint8Array, start: number, handle: BlockHandle): void {
    const { checksum } = this.footer;
    checkBlock(bytes, start, handle, checksum);
    if (checksum === BlockChecksum.None || checksum === BlockChecksum.XxHash32) this.uncheckedBlocks++;
    else this.checkedBlocks++;
  }

  /** The contents of a block without which one cannot go on. */
  private *meta(handle: BlockHandle): RangedPass<Uint8Array> {
    checkHandle(handle, this.limit, this.size - this.footer.size);
    const block = yield* this.block(handle);
    if (block === undefined) {
      throw new ByteFormatError(handle.offset, `a block of at most ${MAX_BLOCK_BYTES} bytes`, `${handle.size} bytes`);
    }
    return blockContents(block, handle.offset);
  }

  /** @returns the number of data blocks */
  private *twoLevelIndex(top: Uint8Array, encoding: IndexEncoding): RangedPass<number> {
    let dataBlocks = 0;
    let dataEnd = 0;
    for (const handle of this.handles(top, this.footer.index.offset, encoding)) {
      const index = yield* this.meta(handle);
      const result = yield* this.blocksOf(index, handle.offset, encoding, dataEnd);
      dataBlocks += result.blocks;
      dataEnd = result.end;
    }
    return dataBlocks;
  }

  private *dataBlocks(index: Uint8Array, offset: number, encoding: IndexEncoding): RangedPass<number> {
    return (yield* this.blocksOf(index, offset, encoding)).blocks;
  }

  /**
   * Checks all blocks of an index.
   * @param from where the first block may start
   */
  private *blocksOf(
    index: Uint8Array,
    offset: number,
    encoding: IndexEncoding,
    from = 0,
  ): RangedPass<{ readonly blocks: number; readonly end: number }> {
    let blocks = 0;
    let end = from;
    let batch: BlockHandle[] = [];
    for (const handle of this.handles(index, offset, encoding, from)) {
      blocks++;
      const [first] = batch;
      const next = handle.offset + handle.size + BLOCK_TRAILER_BYTES;
      if (first !== undefined && (handle.offset !== end || next - first.offset > BATCH_BYTES)) {
        yield* this.batch(batch);
        batch = [];
      }
      end = next;
      batch.push(handle);
    }
    yield* this.batch(batch);
    return { blocks, end };
  }

  private *batch(handles: readonly BlockHandle[]): RangedPass<void> {
    const [first] = handles;
    if (first === undefined) return;
    if (handles.length === 1) {
      yield* this.block(first);
      return;
    }
    const last = handles[handles.length - 1] ?? first;
    const request: ByteRequest = { start: first.offset, end: last.offset + last.size + BLOCK_TRAILER_BYTES };
    const bytes = yield request;
    for (const handle of handles) {
      this.count(handle);
      this.judge(bytes, handle.offset - first.offset, handle);
    }
  }

  /**
   * The handles of an index, which must be in the order of the file and apart from each other.
   */
  private *handles(
    index: Uint8Array,
    offset: number,
    encoding: IndexEncoding,
    from = 0,
  ): Generator<BlockHandle, void, void> {
    const cursor = new IndexCursor(index, offset, encoding);
    let end = from;
    while (cursor.next()) {
      const { handle } = cursor;
      checkHandle(handle, this.limit, offset + cursor.entryStart);
      if (handle.offset < end) {
        throw new ByteFormatError(
          offset + cursor.entryStart,
          `the handle of a block from byte ${end} on`,
          `one at ${handle.offset}`,
        );
      }
      end = handle.offset + handle.size + BLOCK_TRAILER_BYTES;
      yield handle;
    }
  }
}
