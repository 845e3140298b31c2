/** Which files have one holder and which have several, and what the holders hold alone: about 40 bytes a file. */
import { HashIndex64 } from '../file-index.js';

const SEVERAL = -1;

/** See the file comment. Holders are numbers from 0 on. */
export class Holdings {
  private readonly index = new HashIndex64();
  private readonly holders: number[] = [];
  private readonly bytes: number[] = [];
  private readonly exclusive: number[] = [];

  /**
   * A holder names a file, given by its hash.
   * @param bytes what this adds to what the holder is known to hold of the file: 0 if it was named before
   */
  hold(holder: number, high: number, low: number, bytes: number): void {
    const file = this.index.indexOf(high, low);
    const known = this.holders[file];
    if (known === undefined) {
      this.holders[file] = holder;
      this.bytes[file] = bytes;
      this.add(holder, bytes);
    } else if (known === holder) {
      this.bytes[file] = (this.bytes[file] ?? 0) + bytes;
      this.add(holder, bytes);
    } else if (known !== SEVERAL) {
      this.holders[file] = SEVERAL;
      this.add(known, -(this.bytes[file] ?? 0));
    }
  }

  /** Bytes that this holder holds and no other. */
  exclusiveBytes(holder: number): number {
    return this.exclusive[holder] ?? 0;
  }

  /** True if anything holds the file. */
  isHeld(high: number, low: number): boolean {
    return this.index.has(high, low);
  }

  private add(holder: number, bytes: number): void {
    this.exclusive[holder] = (this.exclusive[holder] ?? 0) + bytes;
  }
}
