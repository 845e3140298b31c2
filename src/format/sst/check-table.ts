/** Goes through a whole RocksDB table and compares every block with its checksum. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { RangedPass } from '../byte-request.js';
import { BlockChecksum } from './block-checksum.js';
import { BLOCK_TRAILER_BYTES, type BlockHandle } from './footer.js';
import { IndexWalk, type IndexWalkOptions } from './index-walk.js';
import { INDEX_BLOCK, PARTITIONED_FILTER_PREFIX, PROPERTIES_BLOCK } from './properties.js';
import { openTable, type SstTable } from './table.js';
import { blockContents, checkBlock } from './table-block.js';

/** Neighbouring data blocks are asked for together up to this many bytes. */
const BATCH_BYTES = 1024 * 1024;
/** A larger block is not held in memory for the sake of its checksum. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;

/** What a pass over a table found out. */
export interface TableCheck {
  /** Blocks that agree with their checksums. */
  readonly checkedBlocks: number;
  /** Blocks that could not be judged: without a checksum, or too large. */
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
 * @throws ByteFormatError at the first thing that is not as it should be; UnknownFormatError for a form that is not known here
 */
export function* checkTable(size: number): RangedPass<TableCheck> {
  const table = yield* openTable(size);
  return yield* new TableChecker(table).run();
}

class TableChecker {
  private checkedBlocks = 0;
  private uncheckedBlocks = 0;
  private usedBytes = 0;

  constructor(private readonly table: SstTable) {}

  *run(): RangedPass<TableCheck> {
    const { footer, limit, metaindex, properties, index } = this.table;
    this.judged(footer.metaindex);
    this.judged(index.handle);
    const dataBlocks = yield* this.blocksOf({});
    if (properties.dataBlocks !== undefined && properties.dataBlocks !== dataBlocks) {
      throw new ByteFormatError(index.handle.offset, `an index of ${properties.dataBlocks} blocks`, `${dataBlocks}`);
    }
    for (const [name, handle] of metaindex) {
      if (name === INDEX_BLOCK) continue;
      if (name === PROPERTIES_BLOCK) {
        this.judged(handle);
        continue;
      }
      const block = yield* this.block(handle);
      if (block === undefined || !name.startsWith(PARTITIONED_FILTER_PREFIX)) continue;
      const contents = blockContents(block, handle.offset, footer);
      yield* this.blocksOf({ index: { handle, contents, isTop: false } });
    }
    return {
      checkedBlocks: this.checkedBlocks,
      uncheckedBlocks: this.uncheckedBlocks,
      checksum: footer.checksum,
      unusedBytes: limit - this.usedBytes,
      columnFamily: properties.columnFamily,
    };
  }

  /** Checks all blocks of an index. @returns how many there are */
  private *blocksOf(options: IndexWalkOptions): RangedPass<number> {
    const walk = new IndexWalk(this.table, { ...options, onPart: (handle) => this.judged(handle) });
    for (;;) {
      const batch = walk.takeBatch(BATCH_BYTES);
      if (batch.length > 0) yield* this.batch(batch);
      else if (walk.needsPart) yield* walk.readPart();
      else return walk.blocks;
    }
  }

  private *batch(handles: readonly BlockHandle[]): RangedPass<void> {
    const first = handles[0] as BlockHandle;
    const last = handles[handles.length - 1] as BlockHandle;
    if (handles.length === 1) {
      yield* this.block(first);
      return;
    }
    const bytes = yield { start: first.offset, end: last.offset + last.size + BLOCK_TRAILER_BYTES };
    for (const handle of handles) {
      checkBlock(bytes, handle.offset - first.offset, handle, this.table.footer);
      this.judged(handle);
    }
  }

  /** Reads and checks a block; undefined if it is too large to be judged. */
  private *block(handle: BlockHandle): RangedPass<Uint8Array | undefined> {
    if (handle.size > MAX_CHECKED_BYTES) {
      this.uncheckedBlocks++;
      this.use(handle);
      return undefined;
    }
    const block = yield { start: handle.offset, end: handle.offset + handle.size + BLOCK_TRAILER_BYTES };
    checkBlock(block, 0, handle, this.table.footer);
    this.judged(handle);
    return block;
  }

  private judged(handle: BlockHandle): void {
    this.use(handle);
    if (this.table.footer.checksum === BlockChecksum.None) this.uncheckedBlocks++;
    else this.checkedBlocks++;
  }

  /** Blocks do not overlap, so that no table can make a pass read more than the file. */
  private use(handle: BlockHandle): void {
    this.usedBytes += handle.size + BLOCK_TRAILER_BYTES;
    if (this.usedBytes > this.table.limit) {
      throw new ByteFormatError(handle.offset, 'a block apart from the others', 'one that overlaps');
    }
  }
}
