/** The blocks that an index names, in their order; where the index has two levels, its parts are read on the way. */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { RangedPass } from '../byte-request.js';
import { compareBytes } from './block.js';
import { KEY_SUFFIX_BYTES } from './entry-type.js';
import { BLOCK_TRAILER_BYTES, type BlockHandle, checkHandle } from './footer.js';
import { IndexCursor } from './index-cursor.js';
import { checkBlockSize, type SstTable } from './table.js';
import { blockContents, checkBlock } from './table-block.js';

/** Neighbouring parts of an index are asked for together up to this many bytes. */
const PARTS_BYTES = 256 * 1024;

/** User keys from `from` on and before `to`; undefined leaves a side open. */
export interface KeyRange {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
}

/** An index block, and what is known of it. */
export interface IndexStart {
  readonly handle: BlockHandle;
  readonly contents: Uint8Array;
  /** It names index blocks, which name the others. */
  readonly isTop: boolean;
}

/** Options of {@link IndexWalk}. */
export interface IndexWalkOptions {
  /** Only blocks that may hold such keys. */
  readonly range?: KeyRange;
  /** The index to walk; default: the table's own. */
  readonly index?: IndexStart;
  /** Told of each part of the index when it was checked. */
  readonly onPart?: (handle: BlockHandle) => void;
}

/** See the file comment. */
export class IndexWalk {
  /** Blocks taken so far. */
  blocks = 0;
  /** What names the blocks; undefined until a part of the index was read. */
  private cursor: IndexCursor | undefined;
  private hasEntry = false;
  private readonly top: IndexCursor | undefined;
  private topHasEntry = false;
  /** Parts that were read and not opened. */
  private parts: { readonly handle: BlockHandle; readonly block: Uint8Array }[] = [];
  private isFirstPart = true;
  /** No block follows those that were taken: the last of them reaches the end of the range. */
  private reachedEnd = false;
  /** Blocks stand in the order of the file and apart from each other. */
  private end = 0;
  private topEnd = 0;
  private readonly suffix: number;
  private readonly range: KeyRange;

  constructor(
    private readonly table: SstTable,
    private readonly options: IndexWalkOptions = {},
  ) {
    const isTop = table.properties.indexType === 'two-level';
    const { handle, contents, isTop: hasParts } = options.index ?? { ...table.index, isTop };
    this.range = options.range ?? {};
    this.suffix = table.properties.indexKeysAreUserKeys ? 0 : KEY_SUFFIX_BYTES;
    const cursor = new IndexCursor(contents, handle.offset, table.properties.indexEncoding);
    if (hasParts) {
      this.top = cursor;
      this.topHasEntry = this.startIn(cursor);
    } else {
      this.open(cursor);
    }
  }

  /** True if a part of the index must be read before it can be told which blocks follow. */
  get needsPart(): boolean {
    return !this.hasEntry && !this.reachedEnd && (this.parts.length > 0 || this.topHasEntry);
  }

  /** The next blocks, neighbours of up to `maxBytes` together, or a single one. None at the end, or if a part is needed. */
  takeBatch(maxBytes: number): readonly BlockHandle[] {
    const batch: BlockHandle[] = [];
    let end = 0;
    while (this.hasEntry && this.cursor) {
      const { handle } = this.cursor;
      const next = handle.offset + handle.size + BLOCK_TRAILER_BYTES;
      const [first] = batch;
      if (first && (handle.offset !== end || next - first.offset > maxBytes)) break;
      batch.push(handle);
      end = next;
      this.blocks++;
      this.step(this.cursor);
    }
    return batch;
  }

  /** Reads the next part of the index. @throws ByteFormatError; UnknownFormatError */
  *readPart(): RangedPass<void> {
    while (this.needsPart) {
      if (this.parts.length === 0) yield* this.readParts();
      const part = this.parts.shift();
      if (!part) return;
      const { handle, block } = part;
      const contents = blockContents(block, handle.offset, this.table.footer);
      this.open(new IndexCursor(contents, handle.offset, this.table.properties.indexEncoding));
    }
  }

  private *readParts(): RangedPass<void> {
    const { top } = this;
    if (!top) return;
    const handles: BlockHandle[] = [];
    // Who looks for one key needs one part only.
    const maxBytes = this.isFirstPart && this.range.from ? 0 : PARTS_BYTES;
    while (this.topHasEntry) {
      const { handle } = top;
      const [first] = handles;
      const next = handle.offset + handle.size + BLOCK_TRAILER_BYTES;
      if (first && (handle.offset !== this.topEnd || next - first.offset > maxBytes)) break;
      this.checkPlace(top, this.topEnd);
      checkBlockSize(handle);
      handles.push(handle);
      this.topEnd = next;
      this.topHasEntry = !this.isBehind(top) && top.next();
    }
    this.isFirstPart = false;
    const [first] = handles;
    if (!first) return;
    const bytes = yield { start: first.offset, end: this.topEnd };
    for (const handle of handles) {
      const start = handle.offset - first.offset;
      checkBlock(bytes, start, handle, this.table.footer);
      this.options.onPart?.(handle);
      this.parts.push({ handle, block: bytes.slice(start, start + handle.size + BLOCK_TRAILER_BYTES) });
    }
  }

  private open(cursor: IndexCursor): void {
    this.cursor = cursor;
    this.hasEntry = this.startIn(cursor);
    if (this.hasEntry) this.settle(cursor);
  }

  private startIn(cursor: IndexCursor): boolean {
    const { from } = this.range;
    return from === undefined ? cursor.next() : cursor.seek(from, this.suffix);
  }

  private step(cursor: IndexCursor): void {
    if (this.isBehind(cursor)) {
      this.reachedEnd = true;
      this.hasEntry = false;
      return;
    }
    this.hasEntry = cursor.next();
    if (this.hasEntry) this.settle(cursor);
  }

  /** No later block can hold a key before the end of the range. */
  private isBehind(cursor: IndexCursor): boolean {
    const { to } = this.range;
    return to !== undefined && compareBytes(cursor.keyBuffer, cursor.keyLength - this.suffix, to, to.length) >= 0;
  }

  private settle(cursor: IndexCursor): void {
    this.checkPlace(cursor, this.end);
    this.end = cursor.handle.offset + cursor.handle.size + BLOCK_TRAILER_BYTES;
  }

  private checkPlace(cursor: IndexCursor, from: number): void {
    const { handle } = cursor;
    const at = cursor.offset + cursor.entryStart;
    checkHandle(handle, this.table.limit, at);
    if (handle.offset >= from) return;
    throw new ByteFormatError(at, `the handle of a block from byte ${from} on`, `one at ${handle.offset}`);
  }
}
