/** Values that were only added to: lists. Origin: RocksDB `StringAppendTESTOperator`, which Flink sets. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import type { EntryBatch } from './entry-batch.js';
import type { TableCursor } from './table-cursor.js';

/** Stands between two operands. */
const DELIMITER = 0x2c;
/** The operator of everything that Flink writes. Others join in other ways, or with delimiters that no file tells. */
const OPERATOR = 'StringAppendTESTOperator';
/** Java has no larger arrays. */
const MAX_BYTES = 2 ** 31 - 1;

/** What was added to one key, newest first. */
export class MergeOperands {
  count = 0;
  private bytes = new Uint8Array(4096);
  private used = 0;
  private ends: number[] = [];

  clear(): void {
    if (this.count === 0) return;
    this.count = 0;
    this.used = 0;
    this.ends = [];
    if (this.bytes.length > 4 * 1024 * 1024) this.bytes = new Uint8Array(4096);
  }

  /**
   * Keeps the value of an entry.
   * @throws UnknownFormatError if the table has another operator than Flink's; ByteFormatError if it becomes too much
   */
  add(cursor: TableCursor): void {
    const { block, mergeOperator } = cursor;
    const at = block.offset + block.entryStart;
    if (mergeOperator !== OPERATOR) {
      throw new UnknownFormatError(at, `values joined by ${mergeOperator ?? 'an operator without a name'}`);
    }
    const size = block.valueEnd - block.valueStart;
    const end = this.used + size;
    if (end + this.count > MAX_BYTES) {
      throw new ByteFormatError(at, `a list of at most ${MAX_BYTES} bytes`, 'one that is larger');
    }
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.used));
      this.bytes = larger;
    }
    this.bytes.set(block.contents.subarray(block.valueStart, block.valueEnd), this.used);
    this.used = end;
    this.ends.push(end);
    this.count++;
  }

  /** Appends them to a value, the oldest first. `onTop`: there is an older value in front. */
  appendTo(batch: EntryBatch, onTop: boolean): void {
    for (let index = this.count - 1; index >= 0; index--) {
      if (onTop || index < this.count - 1) batch.appendByte(DELIMITER);
      batch.append(this.bytes, index === 0 ? 0 : (this.ends[index - 1] as number), this.ends[index] as number);
    }
  }
}
