/**
 * The changes of keyed state in a changelog file: a flag for compression, then sets of changes of several subtasks. Handles
 * name a set by its offset, counted behind the flag and before compression. Origin: Flink `StateChangeFormat`.
 */
import { ByteFormatError } from '../../bytes/byte-format-error.js';
import type { ByteSink } from '../byte-sink.js';
import { NumberInPieces } from '../number-in-pieces.js';

/** In place of a key group: the records are about states, not data. */
const METADATA = -1;
/** The highest key group there can be. */
const MAX_KEY_GROUP = 32767;

type Part = 'number of key groups' | 'number of changes' | 'key group' | 'length of a change' | 'a change';

/** Follows the sets by their counts and lengths. Holds nothing of them. */
export class ChangeSets implements ByteSink {
  private part: Part = 'number of key groups';
  private readonly number = new NumberInPieces();
  private offset = 0;
  private keyGroupsLeft = 0;
  private changesLeft = 0;
  private bytesLeft = 0;

  /** @param onSet told where each set starts, counted from the first byte pushed */
  constructor(private readonly onSet: (offset: number) => void) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const used = this.take(bytes, at, end);
      at += used;
      this.offset += used;
    }
  }

  finish(): void {
    if (this.part === 'number of key groups' && !this.number.isBegun) return;
    throw new ByteFormatError(this.offset, this.part, 'the end of the file');
  }

  private take(bytes: Uint8Array, at: number, end: number): number {
    if (this.part === 'a change') {
      const used = Math.min(this.bytesLeft, end - at);
      this.bytesLeft -= used;
      if (this.bytesLeft === 0) this.endChange();
      return used;
    }
    const used = this.number.take(bytes, at, end, 4);
    if (!this.number.isBegun) this.takeNumber(this.number.value, this.offset + used - 4);
    return used;
  }

  private takeNumber(value: number, at: number): void {
    const isKeyGroup = this.part === 'key group';
    if (value < (isKeyGroup ? METADATA : 0) || (isKeyGroup && value > MAX_KEY_GROUP)) {
      throw new ByteFormatError(at, this.part, `${value}`);
    }
    switch (this.part) {
      case 'number of key groups':
        this.onSet(at);
        this.keyGroupsLeft = value;
        if (value > 0) this.part = 'number of changes';
        break;
      case 'number of changes':
        this.changesLeft = value;
        this.part = 'key group';
        break;
      case 'key group':
        if (this.changesLeft > 0) this.part = 'length of a change';
        else this.endKeyGroup();
        break;
      default:
        this.bytesLeft = value;
        this.part = 'a change';
        if (value === 0) this.endChange();
    }
  }

  private endChange(): void {
    this.changesLeft--;
    if (this.changesLeft > 0) this.part = 'length of a change';
    else this.endKeyGroup();
  }

  private endKeyGroup(): void {
    this.keyGroupsLeft--;
    this.part = this.keyGroupsLeft > 0 ? 'number of changes' : 'number of key groups';
  }
}
