/** Offsets as they come out of a metadata file, in bounded pieces. */

/** Collects 64-bit numbers; what no double holds becomes one that lies in no file. */
export class OffsetList {
  private values = new Float64Array(16);
  private length = 0;

  clear(): void {
    this.length = 0;
  }

  /** Adds `count` big-endian numbers from `bytes` at `start`. */
  addBigEndian(bytes: Uint8Array, start: number, count: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < count; i++) {
      const at = start + 8 * i;
      this.add(view.getInt32(at) * 0x100000000 + view.getUint32(at + 4));
    }
  }

  add(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** A copy of what there is. */
  take(): Float64Array {
    return this.values.slice(0, this.length);
  }
}
