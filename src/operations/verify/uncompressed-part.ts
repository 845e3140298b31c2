import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../../format/byte-sink.js';

/** Hands bytes on that were compressed, and tells of an error in them where the compressed ones are. */
export class UncompressedPart implements ByteSink {
  /** @param offset where the compressed bytes start in the file */
  constructor(
    private readonly target: ByteSink,
    private readonly offset: number,
  ) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    this.located(() => this.target.push(bytes, start, end));
  }

  finish(): void {
    this.located(() => this.target.finish());
  }

  private located(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ByteFormatError)) throw error;
      const reading = `${error.reading} (at byte ${error.offset} of what is compressed here)`;
      throw new ByteFormatError(this.offset, reading, error.found);
    }
  }
}
