/**
 * The entries of a column family as a reader of the database would see them: the tables merged, the newest value of each key,
 * nothing that was deleted, and what was only added to joined.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { UnknownFormatError } from '../unknown-format-error.js';
import { compareBytes } from './block.js';
import type { EntryBatch } from './entry-batch.js';
import { EntryType, refusedEntryType } from './entry-type.js';
import type { KeyRange } from './index-walk.js';
import { MergeOperands } from './merge-operands.js';
import { type OpenTables, SortedRun, type TableFile, type TablesPass } from './sorted-run.js';
import type { TableCursor } from './table-cursor.js';

/** Options of {@link FamilyScan}. */
export interface FamilyScanOptions {
  readonly range?: KeyRange;
  /** Default: tables are kept for the scan. */
  readonly tables?: OpenTables;
}

/** A run that is at an entry. */
interface Head {
  readonly run: SortedRun;
  cursor: TableCursor;
}

/** See the file comment. */
export class FamilyScan {
  /** A binary heap, the run with the smallest key and of these the newest entry on top. */
  private readonly heads: Head[] = [];
  private runs: readonly SortedRun[];
  private isStarted = false;
  private readonly operands = new MergeOperands();

  /** @param runs tables whose keys do not overlap each, in the order of their keys */
  constructor(runs: readonly (readonly TableFile[])[], options: FamilyScanOptions = {}) {
    const { range = {}, tables = new Map() } = options;
    this.runs = runs.map((files) => new SortedRun(files, range, tables));
  }

  /**
   * Puts the next entries into a batch, which is emptied first.
   * @returns false if there are no more after these
   * @throws TableFailure with a ByteFormatError or an UnknownFormatError
   */
  *fill(batch: EntryBatch): TablesPass<boolean> {
    batch.clear();
    if (!this.isStarted) {
      this.isStarted = true;
      for (const run of this.runs) if (yield* run.load()) this.push(run);
    }
    while (!batch.isFull) {
      const [head] = this.heads;
      if (!head) return false;
      const { block, userKeyLength } = head.cursor;
      batch.startEntry(block.keyBuffer, userKeyLength);
      let deletedBelow = this.deletedBelow(block.keyBuffer, userKeyLength);
      const { operands } = this;
      operands.clear();
      let outcome: Outcome = 'open';
      for (let next: Head | undefined = head; next; next = this.headOf(batch)) {
        if (outcome === 'open') outcome = this.take(next, deletedBelow, batch);
        if (next.run.next()) {
          this.settle(0);
        } else {
          yield* this.refill(next);
          // A table that was opened on the way may delete the rest of this key.
          const key = batch.startedKey;
          deletedBelow = this.deletedBelow(key, key.length);
        }
      }
      if (outcome === 'value') operands.appendTo(batch, true);
      else if (operands.count > 0) operands.appendTo(batch, false);
      if (outcome === 'value' || operands.count > 0) batch.endEntry();
      else batch.dropEntry();
    }
    return this.heads.length > 0;
  }

  private take({ run, cursor }: Head, deletedBelow: number, batch: EntryBatch): Outcome {
    try {
      return takeEntry(cursor, deletedBelow, batch, this.operands);
    } catch (error) {
      throw run.failure(error);
    }
  }

  private push(run: SortedRun): void {
    if (!run.cursor) return;
    this.heads.push({ run, cursor: run.cursor });
    for (let at = this.heads.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isBefore(at, parent)) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  /** Loads more of the run on top, or takes it away. */
  private *refill(head: Head): TablesPass<void> {
    if (yield* head.run.load()) {
      if (head.run.cursor) head.cursor = head.run.cursor;
    } else {
      const last = this.heads.pop();
      if (last && last !== head) this.heads[0] = last;
    }
    this.settle(0);
  }

  /** Lets what is at an index sink to its place. */
  private settle(at: number): void {
    const { heads } = this;
    for (let parent = at; ; ) {
      let child = 2 * parent + 1;
      if (child >= heads.length) return;
      if (child + 1 < heads.length && this.isBefore(child + 1, child)) child++;
      if (!this.isBefore(child, parent)) return;
      this.swap(child, parent);
      parent = child;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const one = (this.heads[a] as Head).cursor;
    const other = (this.heads[b] as Head).cursor;
    const order = compareBytes(one.block.keyBuffer, one.userKeyLength, other.block.keyBuffer, other.userKeyLength);
    return order === 0 ? one.sequence > other.sequence : order < 0;
  }

  private swap(a: number, b: number): void {
    const { heads } = this;
    const head = heads[a] as Head;
    heads[a] = heads[b] as Head;
    heads[b] = head;
  }

  /** The head on top if it is at an older entry of the key that was started. */
  private headOf(batch: EntryBatch): Head | undefined {
    const [head] = this.heads;
    if (!head) return undefined;
    const { block, userKeyLength } = head.cursor;
    const order = batch.compareStarted(block.keyBuffer, userKeyLength);
    if (order === 0) return head;
    if (order < 0) return undefined;
    const at = block.offset + block.entryStart;
    throw head.run.failure(new ByteFormatError(at, 'keys in ascending order', 'a smaller one'));
  }

  private deletedBelow(key: Uint8Array, length: number): number {
    let highest = 0;
    for (const run of this.runs) {
      if (run.deleted.length === 0) continue;
      for (const ranges of run.deleted) highest = Math.max(highest, ranges.covering(key, length));
      if (run.deleted.some(({ isOver }) => isOver)) run.deleted = run.deleted.filter(({ isOver }) => !isOver);
    }
    return highest;
  }
}

/** What is known of a key: nothing final yet, that it ends in a value, that it is gone. */
type Outcome = 'open' | 'value' | 'gone';

/** Takes an entry of a key, newer ones first. */
function takeEntry(cursor: TableCursor, deletedBelow: number, batch: EntryBatch, operands: MergeOperands): Outcome {
  const { block, type } = cursor;
  if (cursor.sequence < deletedBelow) return 'gone';
  switch (type) {
    case EntryType.Value:
      batch.append(block.contents, block.valueStart, block.valueEnd);
      return 'value';
    case EntryType.Merge:
      operands.add(cursor);
      return 'open';
    case EntryType.Delete:
    case EntryType.SingleDelete:
      return 'gone';
    default: {
      const at = block.offset + block.entryStart;
      const refused = refusedEntryType(type);
      if (refused !== undefined) throw new UnknownFormatError(at, refused);
      throw new ByteFormatError(at, 'the type of an entry', `${type}`);
    }
  }
}
