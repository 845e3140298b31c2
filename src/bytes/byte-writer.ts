/**
 * Writes Java `DataOutput` primitives into a growing buffer that can be drained on the way, so that a file of any size goes
 * through a small one. Numbers written earlier can be patched.
 */
import { encodeModifiedUtf8, MAX_UTF_BYTES } from './modified-utf8.js';

const FIRST_CAPACITY = 1024;

/** A correction of bytes that have been drained already. */
export interface Patch {
  /** From the start of the output. */
  readonly position: number;
  readonly bytes: Uint8Array;
}

/** See the file comment. */
export class ByteWriter {
  /** Corrections of drained bytes; the owner of the output applies them at the end. */
  readonly patches: Patch[] = [];
  private buffer = new Uint8Array(FIRST_CAPACITY);
  private view = new DataView(this.buffer.buffer);
  private length = 0;
  private drained = 0;

  /** Bytes written in all. */
  get position(): number {
    return this.drained + this.length;
  }

  /** Bytes written and not drained. */
  get pending(): number {
    return this.length;
  }

  /** Takes out what has been written since the last call. */
  drain(): Uint8Array {
    const bytes = this.buffer.slice(0, this.length);
    this.drained += this.length;
    this.length = 0;
    return bytes;
  }

  private grow(bytes: number): number {
    const at = this.length;
    this.length += bytes;
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length));
      larger.set(this.buffer.subarray(0, at));
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    return at;
  }

  writeI8(value: number): void {
    const at = this.grow(1);
    this.view.setInt8(at, value);
  }

  writeI32(value: number): void {
    const at = this.grow(4);
    this.view.setInt32(at, value);
  }

  writeI64(value: bigint): void {
    const at = this.grow(8);
    this.view.setBigInt64(at, value);
  }

  writeI64Array(values: BigInt64Array): void {
    let at = this.grow(values.length * 8);
    for (const value of values) {
      this.view.setBigInt64(at, value);
      at += 8;
    }
  }

  writeBytes(bytes: Uint8Array): void {
    const at = this.grow(bytes.length);
    this.buffer.set(bytes, at);
  }

  /**
   * Writes text as `DataOutput.writeUTF` does.
   * @throws RangeError if it takes more than 65,535 bytes; nothing is written then
   */
  writeUtf(text: string): void {
    this.writeUtfBytes(encodeModifiedUtf8(text));
  }

  /** Writes text that is encoded already, with its length. @throws RangeError as {@link writeUtf} */
  writeUtfBytes(bytes: Uint8Array): void {
    if (bytes.length > MAX_UTF_BYTES) {
      throw new RangeError(`a string of ${bytes.length} encoded bytes, where the format allows ${MAX_UTF_BYTES}`);
    }
    const at = this.grow(2 + bytes.length);
    this.view.setUint16(at, bytes.length);
    this.buffer.set(bytes, at + 2);
  }

  /** Replaces a number that was written at `position`. */
  patchI32(position: number, value: number): void {
    if (position >= this.drained) {
      this.view.setInt32(position - this.drained, value);
      return;
    }
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setInt32(0, value);
    this.patches.push({ position, bytes });
  }
}
