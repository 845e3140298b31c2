declare module 'murmurhash3js-revisited' {
  const murmurHash3: {
    readonly x64: {
      /** The two halves of the hash as big-endian hex digits. */
      hash128(bytes: ArrayLike<number>, seed: number): string;
    };
  };
  export = murmurHash3;
}
