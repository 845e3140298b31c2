/** Goes through the entries of a RocksDB table, or of a range of its keys, in the order of the keys. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteRange, RangedPass } from '../byte-request.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import { BlockCursor, compareBytes } from './block.js';
import { KEY_SUFFIX_BYTES } from './entry-type.js';
import { BLOCK_TRAILER_BYTES, type BlockHandle } from './footer.js';
import { IndexWalk, type KeyRange } from './index-walk.js';
import { DICTIONARY_BLOCK } from './properties.js';
import { checkBlockSize, globalSequenceOf, MAX_BLOCK_BYTES, type SstTable } from './table.js';
import { blockContents, checkBlock } from './table-block.js';

/** Blocks are asked for in batches that grow from the first to the second number of bytes. */
const FIRST_BATCH_BYTES = 64 * 1024;
const LARGEST_BATCH_BYTES = 1024 * 1024;
/** The comparator of everything that Flink writes. */
export const BYTEWISE_COMPARATOR = 'leveldb.BytewiseComparator';
const TWO_32 = 0x100000000;
/** What the upper part of a sequence number must be below, so that the number is exact here. */
const EXACT_HIGH = 0x200000;

/** Options of {@link TableCursor}. */
export interface TableCursorOptions {
  readonly range?: KeyRange;
  /** The highest sequence number of the table, where something else than the table tells it. */
  readonly largestSequence?: number | undefined;
}

/**
 * See the file comment. An entry is there after `next` or `load` returned true, until either is called again:
 * `while (cursor.next() || (yield* cursor.load())) …`
 */
export class TableCursor {
  /** Holds the key, eight bytes of suffix behind it, and the value of the entry. */
  readonly block = new BlockCursor();
  /** Bytes of the key as users know it. */
  userKeyLength = 0;
  /** A newer entry has a higher one. */
  sequence = 0;
  /** One of `EntryType`, or another number. */
  type = 0;
  private readonly walk: IndexWalk;
  private readonly globalSequence: number | undefined;
  private handles: readonly BlockHandle[] = [];
  private bytes: Uint8Array = new Uint8Array(0);
  /** The block of the batch that comes next. */
  private nextHandle = 0;
  private upcoming: readonly BlockHandle[] = [];
  private batchBytes = FIRST_BATCH_BYTES;
  private isFirstBlock = true;
  private isLastBlock = false;
  private isAtEnd = false;
  private readonly from: Uint8Array | undefined;
  private readonly to: Uint8Array | undefined;

  /** The name of what joins values that were only added to. */
  get mergeOperator(): string | undefined {
    return this.table.properties.mergeOperator;
  }

  /** @throws UnknownFormatError for a table whose entries are not read here; ByteFormatError */
  constructor(
    private readonly table: SstTable,
    options: TableCursorOptions = {},
  ) {
    refuseUnknown(table);
    const { range = {} } = options;
    this.from = range.from;
    this.to = range.to;
    this.walk = new IndexWalk(table, { range });
    this.globalSequence = globalSequenceOf(table, options.largestSequence);
  }

  /**
   * Goes to the next entry, if that is in memory.
   * @returns false if it is not, or at the end
   * @throws ByteFormatError; UnknownFormatError
   */
  next(): boolean {
    while (!this.isAtEnd) {
      if (this.block.next()) return this.accept();
      if (!this.openNextBlock()) return false;
      if (this.isFirstBlock) {
        this.isFirstBlock = false;
        if (this.from !== undefined && this.block.seek(this.from, KEY_SUFFIX_BYTES)) return this.accept();
      }
    }
    return false;
  }

  /**
   * Goes to the next entry after `next` returned false.
   * @returns false at the end
   * @throws ByteFormatError; UnknownFormatError
   */
  *load(): RangedPass<boolean> {
    while (!this.isAtEnd) {
      let batch = this.upcoming;
      while (batch.length === 0 && this.walk.needsPart) {
        yield* this.walk.readPart();
        batch = this.takeBatch();
      }
      if (batch.length === 0) batch = this.takeBatch();
      const range = rangeOf(batch);
      if (range === undefined) {
        this.isAtEnd = true;
        break;
      }
      this.upcoming = this.takeBatch();
      this.handles = batch;
      this.nextHandle = 0;
      this.bytes = yield { ...range, ahead: rangeOf(this.upcoming) };
      if (this.next()) return true;
    }
    return false;
  }

  private takeBatch(): readonly BlockHandle[] {
    const batch = this.walk.takeBatch(this.batchBytes);
    if (batch.length > 0) this.batchBytes = Math.min(LARGEST_BATCH_BYTES, this.batchBytes * 4);
    return batch;
  }

  private openNextBlock(): boolean {
    const handle = this.handles[this.nextHandle];
    const [first] = this.handles;
    if (!handle || !first) return false;
    const { footer } = this.table;
    checkBlockSize(handle);
    const start = handle.offset - first.offset;
    checkBlock(this.bytes, start, handle, footer);
    const block = this.bytes.subarray(start, start + handle.size + BLOCK_TRAILER_BYTES);
    this.block.open(blockContents(block, handle.offset, footer, MAX_BLOCK_BYTES), handle.offset);
    this.nextHandle++;
    this.isLastBlock = this.nextHandle === this.handles.length && this.upcoming.length === 0 && !this.walk.needsPart;
    return true;
  }

  /** Takes the suffix of the key apart. @returns false if the key is behind the range */
  private accept(): boolean {
    const { keyBuffer, keyLength } = this.block;
    const at = keyLength - KEY_SUFFIX_BYTES;
    if (at < 0) this.fail(`a key of at least ${KEY_SUFFIX_BYTES} bytes`, `${keyLength}`);
    this.userKeyLength = at;
    this.type = keyBuffer[at] as number;
    const low =
      ((keyBuffer[at + 1] as number) |
        ((keyBuffer[at + 2] as number) << 8) |
        ((keyBuffer[at + 3] as number) << 16) |
        ((keyBuffer[at + 4] as number) << 24)) >>>
      0;
    const high =
      (keyBuffer[at + 5] as number) | ((keyBuffer[at + 6] as number) << 8) | ((keyBuffer[at + 7] as number) << 16);
    if (high >= EXACT_HIGH) this.fail('a sequence number below 2^53', 'a higher one');
    this.sequence = this.globalSequence ?? high * TWO_32 + low;
    if (this.isLastBlock && this.to !== undefined && compareBytes(keyBuffer, at, this.to, this.to.length) >= 0) {
      this.isAtEnd = true;
      return false;
    }
    return true;
  }

  private fail(reading: string, found: string): never {
    throw new ByteFormatError(this.block.offset + this.block.entryStart, reading, found);
  }
}

function rangeOf(handles: readonly BlockHandle[]): ByteRange | undefined {
  const [first] = handles;
  const last = handles[handles.length - 1];
  return first && last && { start: first.offset, end: last.offset + last.size + BLOCK_TRAILER_BYTES };
}

function refuseUnknown({ properties, metaindex, footer }: SstTable): void {
  const { comparator = BYTEWISE_COMPARATOR } = properties;
  if (comparator !== BYTEWISE_COMPARATOR) {
    throw new UnknownFormatError(footer.metaindex.offset, `a table in the order of ${comparator}`);
  }
  const dictionary = metaindex.get(DICTIONARY_BLOCK);
  if (dictionary !== undefined) throw new UnknownFormatError(dictionary.offset, 'a table compressed with a dictionary');
}
