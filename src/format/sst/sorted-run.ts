/** Tables whose keys do not overlap, one behind the other: a level of a RocksDB database, or a single table. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteRequest, RangedPass } from '../byte-request.js';
import { compareBytes } from './block.js';
import { EntryType, KEY_SUFFIX_BYTES } from './entry-type.js';
import type { KeyRange } from './index-walk.js';
import { DeletedRanges, type RangeDeletion, readRangeDeletions } from './range-deletions.js';
import { globalSequenceOf, openTable, type SstTable } from './table.js';
import { TableCursor } from './table-cursor.js';

/** Properties and a small index are within this many bytes of the end of a table. */
const TAIL_BYTES = 32 * 1024;

/** A table, and what is known of it from elsewhere (the MANIFEST of its database). */
export interface TableFile {
  /** Tells the tables of one database apart. */
  readonly number: number;
  /** Bytes of the file. */
  readonly size: number;
  /** First and last key with their suffixes, the bounds of deleted ranges included. Undefined if not known. */
  readonly smallest?: Uint8Array | undefined;
  readonly largest?: Uint8Array | undefined;
  readonly largestSequence?: number | undefined;
}

/** Bytes of one of several tables that are wanted next. */
export interface TableRequest extends ByteRequest {
  /** {@link TableFile.number} of the table. */
  readonly table: number;
}

/** A pass over several tables. */
export type TablesPass<T> = Generator<TableRequest, T, Uint8Array>;

/** Tables that are open, by number; whoever keeps it between passes saves the reading of indexes. */
export interface OpenTables {
  get(number: number): SstTable | undefined;
  set(number: number, table: SstTable): void;
}

/** What went wrong in one of several tables. */
export class TableFailure extends Error {
  override readonly name = 'TableFailure';
  /** @param cause what was thrown */
  constructor(
    readonly table: number,
    override readonly cause: unknown,
  ) {
    super(`table ${table}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** See the file comment. An entry is there after `next` or `load` returned true. */
export class SortedRun {
  /** The table that the entry is from. */
  cursor: TableCursor | undefined;
  /** What the tables that were opened delete, until no later key is covered. */
  deleted: DeletedRanges[] = [];
  private nextFile = 0;
  private readonly files: readonly TableFile[];

  /** @param files in the order of their keys */
  constructor(
    files: readonly TableFile[],
    private readonly range: KeyRange,
    private readonly tables: OpenTables,
  ) {
    this.files = files.filter((file) => mayHold(file, range));
  }

  /** Goes to the next entry, if that is in memory. @returns false if it is not, or at the end @throws TableFailure */
  next(): boolean {
    try {
      return this.cursor?.next() === true;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** What was thrown while the entry was worked on, with its table. */
  failure(error: unknown): unknown {
    return error instanceof TableFailure ? error : new TableFailure(this.files[this.nextFile - 1]?.number ?? 0, error);
  }

  /** Goes to the next entry after `next` returned false. @returns false at the end @throws TableFailure */
  *load(): TablesPass<boolean> {
    for (;;) {
      const { cursor } = this;
      const current = this.files[this.nextFile - 1];
      if (cursor && current && (yield* inTable(current, cursor.load()))) return true;
      this.cursor = undefined;
      const file = this.files[this.nextFile];
      if (!file) return false;
      this.nextFile++;
      yield* inTable(file, this.open(file));
    }
  }

  private *open(file: TableFile): RangedPass<void> {
    let table = this.tables.get(file.number);
    if (!table) {
      table = yield* openTable(file.size, { tailBytes: TAIL_BYTES });
      this.tables.set(file.number, table);
    }
    const deletions = yield* readRangeDeletions(table, globalSequenceOf(table, file.largestSequence));
    if (deletions.length > 0) this.deleted.push(new DeletedRanges(deletions.map((range) => cutTo(file, range))));
    this.cursor = new TableCursor(table, { range: this.range, largestSequence: file.largestSequence });
  }
}

/** Marks the requests of a pass as such to this table, and its errors as from there. */
function* inTable<T>({ number }: TableFile, pass: RangedPass<T>): TablesPass<T> {
  try {
    let step = pass.next();
    while (!step.done) step = pass.next(yield { ...step.value, table: number });
    return step.value;
  } catch (error) {
    throw error instanceof TableFailure ? error : new TableFailure(number, error);
  }
}

/** The user key in a key with a suffix. @throws ByteFormatError if it is shorter than one */
export function userKeyOf(key: Uint8Array): Uint8Array {
  if (key.length < KEY_SUFFIX_BYTES) throw new ByteFormatError(0, 'a key with a suffix', `${key.length} bytes`);
  return key.subarray(0, key.length - KEY_SUFFIX_BYTES);
}

function compare(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, a.length, b, b.length);
}

function mayHold({ smallest, largest }: TableFile, { from, to }: KeyRange): boolean {
  if (smallest && to && compare(userKeyOf(smallest), to) >= 0) return false;
  return !(largest && from && compare(userKeyOf(largest), from) < 0);
}

/**
 * A table may have a deletion that goes beyond its own keys, where a neighbour has it as well. There it must not count: the
 * neighbour may have been rewritten since, with keys that seem older than they are.
 */
function cutTo({ smallest, largest }: TableFile, deletion: RangeDeletion): RangeDeletion {
  let { start, end } = deletion;
  if (smallest && compare(userKeyOf(smallest), start) > 0) start = userKeyOf(smallest);
  if (largest) {
    // A last key that only the end of a deletion has made is not in the table.
    const isOpen = largest[largest.length - KEY_SUFFIX_BYTES] === EntryType.RangeDelete;
    const user = userKeyOf(largest);
    const last = isOpen ? user : Uint8Array.of(...user, 0);
    if (compare(last, end) < 0) end = last;
  }
  return { start, end, sequence: deletion.sequence };
}
