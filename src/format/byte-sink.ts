/** Where the bytes of a stream go that is too long to be held: piece by piece, in order. */
export interface ByteSink {
  /**
   * The next bytes of the stream: [start, end) of `bytes`, which are valid during the call only.
   * @throws ByteFormatError if they are not what should come here
   */
  push(bytes: Uint8Array, start: number, end: number): void;
  /**
   * The stream ends here.
   * @throws ByteFormatError if it must not
   */
  finish(): void;
}
