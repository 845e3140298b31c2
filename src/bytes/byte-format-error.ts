/**
 * Bytes that are not what a format says: thrown by the byte layer and by decoders of parts, turned into an error that names
 * the file by whoever knows it.
 */
export class ByteFormatError extends Error {
  override readonly name = 'ByteFormatError';
  /**
   * @param offset where the offending field starts, in bytes from the start of the input
   * @param reading what was being read, e.g. `parallelism`
   * @param found what was there instead, e.g. `-7` or `the end of the file`
   */
  constructor(
    readonly offset: number,
    readonly reading: string,
    readonly found: string,
  ) {
    super(`expected ${reading} at byte ${offset}, found ${found}`);
  }
}
