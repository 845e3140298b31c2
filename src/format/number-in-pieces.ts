/** A big-endian 32-bit number whose bytes may come in several pieces. */
export class NumberInPieces {
  /** The number, once {@link take} has returned true. Signed. */
  value = 0;
  private taken = 0;

  /** True if some but not all bytes are there. */
  get isBegun(): boolean {
    return this.taken > 0;
  }

  /**
   * Takes bytes from [at, end), as many as are missing.
   * @returns how many it took; {@link isBegun} is false again when the number is complete
   */
  take(bytes: Uint8Array, at: number, end: number, length: 2 | 4): number {
    if (this.taken === 0 && end - at >= length) {
      this.value =
        length === 2
          ? ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
          : ((bytes[at] as number) << 24) |
            ((bytes[at + 1] as number) << 16) |
            ((bytes[at + 2] as number) << 8) |
            (bytes[at + 3] as number);
      return length;
    }
    if (this.taken === 0) this.value = 0;
    this.value = (this.value << 8) | (bytes[at] as number);
    this.taken = (this.taken + 1) % length;
    return 1;
  }
}
