/** The servers that may answer, and which of them did last. */

/** See the file comment. One or several base URLs, as `http://host:9870/webhdfs/v1`, without a slash at the end. */
export class NameNodes {
  #current = 0;

  /** @param bases the likeliest first; at least one */
  constructor(readonly bases: readonly string[]) {
    if (bases.length === 0) throw new RangeError('no name node');
  }

  /** The one to ask first. */
  get current(): string {
    return this.bases[this.#current] ?? '';
  }

  /** Goes on to the next one after `failed`, unless another caller has done so already. */
  leave(failed: string): void {
    if (this.current === failed) this.#current = (this.#current + 1) % this.bases.length;
  }
}
