/**
 * A file of channel state: a version, then blocks of network data with their lengths. One file serves several subtasks,
 * operators and channels; the metadata says which block is whose. Origin: Flink `ChannelStateSerializerImpl`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { NumberInPieces } from '../number-in-pieces.js';

const VERSION = 0;
/** Bytes in front of every block, and of the version. */
export const CHANNEL_LENGTH_BYTES = 4;

/** Follows the blocks by their lengths. Holds nothing of them. */
export class ChannelBlocks implements ByteSink {
  private readonly number = new NumberInPieces();
  private left = 0;
  private offset = 0;
  private sawVersion = false;

  /** @param onBlock told where each block's length stands, and how many bytes follow it */
  constructor(private readonly onBlock: (offset: number, length: number) => void) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const used = this.take(bytes, at, end);
      at += used;
      this.offset += used;
    }
  }

  finish(): void {
    if (!this.sawVersion) throw new ByteFormatError(this.offset, 'the version of channel state', 'the end of the file');
    if (this.left > 0 || this.number.isBegun) {
      throw new ByteFormatError(this.offset, 'a block of channel state', 'the end of the file inside it');
    }
  }

  private take(bytes: Uint8Array, at: number, end: number): number {
    if (this.left > 0) {
      const used = Math.min(this.left, end - at);
      this.left -= used;
      return used;
    }
    const used = this.number.take(bytes, at, end, 4);
    if (!this.number.isBegun) this.takeNumber(this.number.value, this.offset + used - 4);
    return used;
  }

  private takeNumber(value: number, at: number): void {
    if (!this.sawVersion) {
      if (value !== VERSION) throw new ByteFormatError(at, `version ${VERSION} of channel state`, `${value}`);
      this.sawVersion = true;
      return;
    }
    if (value < 0) throw new ByteFormatError(at, 'the length of a block of channel state', `${value}`);
    this.left = value;
    this.onBlock(at, value);
  }
}
