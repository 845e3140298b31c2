/** Deletions of whole ranges of keys, as a RocksDB table has them in a block of their own. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { RangedPass } from '../byte-request.js';
import { BlockCursor, compareBytes } from './block.js';
import { EntryType, KEY_SUFFIX_BYTES } from './entry-type.js';
import { RANGE_DELETIONS_BLOCK } from './properties.js';
import { readTableBlock, type SstTable } from './table.js';

/** All entries of the user keys [start, end) that are older than `sequence` are gone. */
export interface RangeDeletion {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly sequence: number;
}

/**
 * Reads the deletions of a table, in no particular order.
 * @param sequence that of all entries, if the table has none of its own
 * @throws ByteFormatError; UnknownFormatError
 */
export function* readRangeDeletions(
  table: SstTable,
  sequence: number | undefined,
): RangedPass<readonly RangeDeletion[]> {
  const handle = table.metaindex.get(RANGE_DELETIONS_BLOCK);
  if (handle === undefined) return [];
  const cursor = new BlockCursor(yield* readTableBlock(table, handle, table.footer.metaindex.offset), handle.offset);
  const deletions: RangeDeletion[] = [];
  while (cursor.next()) {
    const { key } = cursor;
    const at = key.length - KEY_SUFFIX_BYTES;
    if (at < 0 || key[at] !== EntryType.RangeDelete) {
      throw new ByteFormatError(handle.offset + cursor.entryStart, 'a deletion of a range', 'another entry');
    }
    const suffix = new DataView(key.buffer, key.byteOffset + at, KEY_SUFFIX_BYTES).getBigUint64(0, true);
    deletions.push({ start: key.slice(0, at), end: cursor.value.slice(), sequence: sequence ?? Number(suffix >> 8n) });
  }
  return deletions;
}

/** A part of the keys in which the same deletions hold. */
interface Fragment {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** The highest one. */
  readonly sequence: number;
}

/** Answers for ascending keys which deletion covers them. */
export class DeletedRanges {
  private readonly fragments: readonly Fragment[];
  private next = 0;

  /** @param deletions in any order, overlapping as they like */
  constructor(deletions: readonly RangeDeletion[]) {
    this.fragments = fragmentsOf(deletions.filter(({ start, end }) => compare(start, end) < 0));
  }

  /** True if no later key is covered. */
  get isOver(): boolean {
    return this.next >= this.fragments.length;
  }

  /**
   * The sequence number below which entries of this key are gone; 0 if none are.
   * @param key its first `length` bytes; not before the one of the call before
   */
  covering(key: Uint8Array, length: number): number {
    const { fragments } = this;
    for (let fragment = fragments[this.next]; fragment; fragment = fragments[++this.next]) {
      if (compareBytes(key, length, fragment.end, fragment.end.length) >= 0) continue;
      return compareBytes(key, length, fragment.start, fragment.start.length) >= 0 ? fragment.sequence : 0;
    }
    return 0;
  }
}

function compare(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, a.length, b, b.length);
}

/** Cuts overlapping ranges into parts that do not overlap. The open ranges are kept in a heap, the highest one on top. */
function fragmentsOf(deletions: readonly RangeDeletion[]): Fragment[] {
  const byStart = [...deletions].sort((a, b) => compare(a.start, b.start));
  const bounds = byStart.flatMap(({ start, end }) => [start, end]).sort(compare);
  const open = new DeletionHeap();
  const fragments: Fragment[] = [];
  let added = 0;
  for (const [index, start] of bounds.entries()) {
    const end = bounds[index + 1];
    if (end === undefined) break;
    if (compare(start, end) === 0) continue;
    for (let next = byStart[added]; next && compare(next.start, start) <= 0; next = byStart[++added]) open.add(next);
    const highest = open.highestAt(start);
    if (highest) fragments.push({ start, end, sequence: highest.sequence });
  }
  return fragments;
}

/** A binary heap by sequence number. What has ended is removed when it comes to the top. */
class DeletionHeap {
  private readonly items: RangeDeletion[] = [];

  add(item: RangeDeletion): void {
    const { items } = this;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as RangeDeletion;
      if (above.sequence >= item.sequence) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  highestAt(key: Uint8Array): RangeDeletion | undefined {
    for (;;) {
      const [top] = this.items;
      if (!top || compare(top.end, key) > 0) return top;
      this.removeTop();
    }
  }

  private removeTop(): void {
    const { items } = this;
    const item = items.pop();
    if (!item || items.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = items[child + 1];
      if (right && right.sequence > (items[child] as RangeDeletion).sequence) child++;
      const below = items[child] as RangeDeletion;
      if (below.sequence <= item.sequence) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
