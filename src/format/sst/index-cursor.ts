/** Blocks of a RocksDB table that say where other blocks are. */
import { BlockCursor } from './block.js';
import { BLOCK_TRAILER_BYTES, type BlockHandle, readBlockHandle } from './footer.js';

/** How the values of an index block are written. */
export interface IndexEncoding {
  /** Handles are stored as the difference in size to the one before, where the keys share bytes. */
  readonly valuesAreDeltas: boolean;
  /** The first key of the block follows the handle. */
  readonly hasFirstKey: boolean;
}

/** Goes through an index block: each entry is a key not before the last one of a block, and the block's handle. */
export class IndexCursor extends BlockCursor {
  /** The handle of the entry. */
  handle: BlockHandle = { offset: 0, size: 0 };

  constructor(
    contents: Uint8Array,
    offset: number,
    private readonly encoding: IndexEncoding,
  ) {
    super(contents, offset);
  }

  override next(): boolean {
    if (!this.encoding.valuesAreDeltas) {
      if (!super.next()) return false;
      this.handle = readBlockHandle(this.value, 0, this.value.length, this.offset, 'the handle of a block').handle;
      return true;
    }
    if (this.position >= this.limit) return false;
    const unshared = this.readKeyLengths();
    this.takeKey(this.position, unshared);
    this.readHandle();
    if (this.encoding.hasFirstKey) this.skipFirstKey();
    return true;
  }

  private readHandle(): void {
    if (this.shared === 0) {
      const reading = 'the handle of a block';
      const { handle, next } = readBlockHandle(this.contents, this.position, this.limit, this.offset, reading);
      this.handle = handle;
      this.position = next;
      return;
    }
    const difference = this.readLength('size of a block');
    const signed = difference % 2 === 0 ? difference / 2 : -(difference + 1) / 2;
    const { offset, size } = this.handle;
    if (size + signed < 0) this.fail('size of a block', `${size + signed}`);
    this.handle = { offset: offset + size + BLOCK_TRAILER_BYTES, size: size + signed };
  }

  private skipFirstKey(): void {
    const length = this.readLength('length of the first key of a block');
    this.position += length;
    if (this.position > this.limit) this.fail('the first key of a block', 'the end of the index block');
  }
}
