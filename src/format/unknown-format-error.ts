/**
 * Bytes of a form that is not known here, though nothing tells that they are wrong: a later version, a serializer of
 * somebody else. What comes behind them cannot be read, up to a place that is known from elsewhere.
 */
export class UnknownFormatError extends Error {
  override readonly name = 'UnknownFormatError';
  /**
   * @param offset where the part starts that is not known, in bytes from the start of the input
   * @param what names the form, e.g. a class and its version
   */
  constructor(
    readonly offset: number,
    readonly what: string,
  ) {
    super(`${what} at byte ${offset} is not known`);
  }
}
