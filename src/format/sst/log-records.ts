/**
 * RocksDB's log format, in which a MANIFEST is written: blocks of 32 KiB that hold records with a masked CRC-32C each.
 * Origin: RocksDB `db/log_format.h`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { crc32c, maskCrc32c } from '../hash/crc32c.js';

const BLOCK_BYTES = 32 * 1024;
/** Checksum, length, type. */
const HEADER_BYTES = 7;
/** Whole records, and the outer pieces of others. */
const FULL = 1;
const FIRST = 2;
const LAST = 4;
/** The kinds from this on have the number of the log in their header as well. */
const FIRST_RECYCLABLE = 5;
const RECYCLABLE_HEADER_BYTES = 11;
const LAST_TYPE = 8;

/** A longer record is refused where records are put together; those of Flink's manifests have kilobytes. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Checks the records of a log. Holds one block at a time, and one record if somebody wants them. */
export class LogRecords implements ByteSink {
  /** Pieces of records read so far. */
  records = 0;
  private readonly block = new Uint8Array(BLOCK_BYTES);
  private filled = 0;
  private offset = 0;
  /** Pieces of the record that has begun; undefined between records. */
  private pieces: Uint8Array[] | undefined;
  private pieceBytes = 0;
  private recordStart = 0;

  /** @param onRecord gets each whole record, and where it starts in the file */
  constructor(private readonly onRecord?: (record: Uint8Array, offset: number) => void) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const used = Math.min(BLOCK_BYTES - this.filled, end - at);
      this.block.set(bytes.subarray(at, at + used), this.filled);
      this.filled += used;
      at += used;
      if (this.filled === BLOCK_BYTES) this.endBlock();
    }
  }

  finish(): void {
    this.endBlock();
    if (this.pieces)
      this.fail(0, `the rest of the record that begins at byte ${this.recordStart}`, 'the end of the file');
  }

  private endBlock(): void {
    const { block, filled } = this;
    let at = 0;
    while (at + HEADER_BYTES <= filled) {
      const length = (block[at + 4] as number) | ((block[at + 5] as number) << 8);
      const type = block[at + 6] as number;
      // What is left of a block that was allocated in advance.
      if (type === 0 && length === 0) break;
      if (type === 0 || type > LAST_TYPE) this.fail(at, 'a log record (type 1 to 8)', `type ${type}`);
      const header = type >= FIRST_RECYCLABLE ? RECYCLABLE_HEADER_BYTES : HEADER_BYTES;
      const end = at + header + length;
      if (end > filled) this.fail(at, `a log record of ${length} bytes`, `${Math.max(0, filled - at - header)} bytes`);
      const stored =
        ((block[at] as number) |
          ((block[at + 1] as number) << 8) |
          ((block[at + 2] as number) << 16) |
          ((block[at + 3] as number) << 24)) >>>
        0;
      if (stored !== maskCrc32c(crc32c(block, at + 6, end))) {
        this.fail(at, 'a log record with its checksum', 'bytes of another checksum');
      }
      this.records++;
      if (this.onRecord)
        this.takePiece(type < FIRST_RECYCLABLE ? type : type - FIRST_RECYCLABLE + 1, at, at + header, end);
      at = end;
    }
    // Less than a header at the end of a block is left blank.
    if (filled - at > 0 && filled < BLOCK_BYTES && filled - at < HEADER_BYTES) {
      this.fail(at, 'a log record', `the end of the file after ${filled - at} bytes`);
    }
    this.checkBlank(at);
    this.offset += filled;
    this.filled = 0;
  }

  private takePiece(type: number, at: number, start: number, end: number): void {
    const isFirst = type === FULL || type === FIRST;
    if (isFirst !== (this.pieces === undefined)) {
      this.fail(at, isFirst ? 'a further piece of a record' : 'the first piece of a record', `type ${type}`);
    }
    if (isFirst) {
      this.pieces = [];
      this.pieceBytes = 0;
      this.recordStart = this.offset + at;
    }
    this.pieceBytes += end - start;
    if (this.pieceBytes > MAX_RECORD_BYTES) this.fail(at, `a record of at most ${MAX_RECORD_BYTES} bytes`, 'more');
    this.pieces?.push(this.block.slice(start, end));
    if (type !== FULL && type !== LAST) return;
    const record = Buffer.concat(this.pieces ?? []);
    this.pieces = undefined;
    this.onRecord?.(record, this.recordStart);
  }

  private checkBlank(from: number): void {
    for (let at = from; at < this.filled; at++) {
      if (this.block[at] !== 0) this.fail(at, 'nothing more in a block of a log', 'other bytes');
    }
  }

  private fail(at: number, reading: string, found: string): never {
    throw new ByteFormatError(this.offset + at, reading, found);
  }
}
