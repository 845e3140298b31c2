/**
 * Drives a parser of entries over a region: a window of it in memory, which slides on, and grows where a single entry is
 * larger, up to a limit.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import { ByteReader } from '../../bytes/byte-reader.js';
import type { EntryParser } from '../../format/entries/raw-entry.js';
import { UndecodableValueError } from '../../format/value/value-serializer.js';
import { type Region, regionChunks } from './region.js';

/** A single entry, with its key, must be smaller. */
export const MAX_ENTRY_BYTES = 256 * 1024 * 1024;
const FIRST_CAPACITY = 64 * 1024;
/** Entries that are handed on at once. */
const BATCH_ENTRIES = 4096;

/** Entries with the place of the window that they lie in. Valid until the next batch is asked for. */
export interface Batch<T> {
  readonly entries: readonly T[];
  /** The error with an offset of the piece in place of one in the window. */
  locate(error: ByteFormatError): Error;
}

/** How a region is parsed. */
export interface ParseOptions {
  /** Bytes behind what the parser takes are no fault. */
  readonly mayEndEarly?: boolean;
  /**
   * Told of a value that cannot be passed over.
   * @returns whether to go on with the next stream of frames, if there is one
   */
  readonly onUndecodable?: (error: UndecodableValueError) => boolean;
}

/**
 * Parses a region to its end.
 * @throws ByteFormatError with an offset in the piece; UndecodableValueError if nobody wants to know; the errors of reading
 */
export async function* parseRegion<T>(
  region: Region,
  parser: EntryParser<T>,
  options: ParseOptions = {},
): AsyncGenerator<Batch<T>, void> {
  const window = new Window(region);
  try {
    while (!parser.isDone) {
      const entries: T[] = [];
      const failure = takeEntries(window, parser, entries);
      if (entries.length > 0) yield { entries, locate: (error) => window.locate(error) };
      if (failure === undefined) continue;
      if (failure instanceof UndecodableValueError) {
        // It may only look so for want of bytes.
        if (!options.onUndecodable) throw failure;
        if (!options.onUndecodable(failure) || !(await window.toNextStream())) return;
      } else if (!(failure instanceof ByteFormatError)) {
        throw failure;
      } else {
        // Growing moves the window, and its offsets with it.
        const located = window.locate(failure);
        if (!(await window.grow())) throw located;
      }
    }
    if (!options.mayEndEarly) await window.expectEnd();
  } finally {
    await window.close();
  }
}

/** As many entries as the window has. @returns what stopped it */
function takeEntries<T>(window: Window, parser: EntryParser<T>, entries: T[]): unknown {
  const { reader } = window;
  let good = reader.position;
  try {
    while (!parser.isDone && entries.length < BATCH_ENTRIES) {
      const entry = parser.next(reader);
      good = reader.position;
      if (entry !== undefined) entries.push(entry);
    }
    return undefined;
  } catch (error) {
    reader.position = good;
    return error;
  }
}

class Window {
  reader: ByteReader = ByteReader.over(new Uint8Array(0));
  private buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  private filled = 0;
  /** Offset in the region of index 0, behind the compression. */
  private base = 0;
  private readonly chunks: ReturnType<typeof regionChunks>;
  private isAtEnd = false;
  /** Where streams of frames begin, as far as they are in the window. */
  private streamStarts: number[] = [];

  constructor(private readonly region: Region) {
    this.chunks = regionChunks(region);
  }

  /**
   * Drops what was read, and adds at least as much again as is left.
   * @returns false if nothing could be added
   */
  async grow(): Promise<boolean> {
    const { position } = this.reader;
    this.buffer.copyWithin(0, position, this.filled);
    this.filled -= position;
    this.base += position;
    this.streamStarts = this.streamStarts.filter((start) => start > this.base);
    const wanted = Math.max(1, this.filled);
    if (this.filled > MAX_ENTRY_BYTES) {
      throw new ByteFormatError(this.fileOffset(0), `an entry of at most ${MAX_ENTRY_BYTES} bytes`, 'a larger one');
    }
    const added = await this.add(wanted);
    this.reader = ByteReader.over(this.buffer.subarray(0, this.filled));
    return added;
  }

  private async add(wanted: number): Promise<boolean> {
    let added = 0;
    while (!this.isAtEnd && added < wanted) {
      const next = await this.chunks.next();
      if (next.done) {
        this.isAtEnd = true;
        break;
      }
      const { bytes, beginsStream } = next.value;
      if (beginsStream) this.streamStarts.push(this.base + this.filled);
      this.reserve(bytes.length);
      this.buffer.set(bytes, this.filled);
      this.filled += bytes.length;
      added += bytes.length;
    }
    return added > 0;
  }

  private reserve(bytes: number): void {
    if (this.filled + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.buffer.length, this.filled + bytes));
    this.buffer.copy(larger, 0, 0, this.filled);
    this.buffer = larger;
  }

  /** Skips to where the next stream of frames begins. @returns false if there is none */
  async toNextStream(): Promise<boolean> {
    if (this.region.compression !== 'heap') return false;
    for (;;) {
      const here = this.base + this.reader.position;
      const start = this.streamStarts.find((begin) => begin > here);
      if (start !== undefined) {
        this.reader.position = start - this.base;
        return true;
      }
      this.reader.position = this.filled;
      if (!(await this.grow())) return false;
      const first = this.streamStarts[0];
      if (first === this.base && first > here) return true;
    }
  }

  /** @throws ByteFormatError if there is more */
  async expectEnd(): Promise<void> {
    const { reader, filled } = this;
    if (reader.position < filled || (await this.grow())) {
      throw this.locate(new ByteFormatError(this.reader.position, 'the end of this part', 'more bytes'));
    }
  }

  /** The error with its offset in the piece. */
  locate(error: ByteFormatError): ByteFormatError {
    const { region } = this;
    if (region.compression === 'no') {
      return new ByteFormatError(this.fileOffset(error.offset), error.reading, error.found);
    }
    const inside = this.base + error.offset;
    const reading = `${error.reading} (at byte ${inside} of what is compressed here)`;
    return new ByteFormatError(region.start, reading, error.found);
  }

  private fileOffset(index: number): number {
    return this.region.start + this.base + index;
  }

  async close(): Promise<void> {
    await this.chunks.return();
  }
}
