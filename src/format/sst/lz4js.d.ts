declare module 'lz4js' {
  interface Lz4 {
    /**
     * Decompresses `length` bytes of `source` from `at` on into `target` from `targetAt` on.
     * @returns the index in `target` behind the last byte
     */
    decompressBlock(source: Uint8Array, target: Uint8Array, at: number, length: number, targetAt: number): number;
    /** Compresses; 0 if the result would not be smaller. */
    compressBlock(
      source: Uint8Array,
      target: Uint8Array,
      at: number,
      length: number,
      hashTable: Uint32Array | number[],
    ): number;
    /** The longest that a block of `bytes` bytes can become. */
    compressBound(bytes: number): number;
  }
  const lz4: Lz4;
  export = lz4;
}
