/** The values that a document is made of, and how 64-bit numbers and bytes become JSON. */

/**
 * A JSON value. Long runs of numbers and bytes stay typed arrays until they are printed: a list state with millions of
 * offsets would otherwise take many times its size in memory.
 */
export type DocumentValue =
  | null
  | boolean
  | number
  | string
  | BigInt64Array
  | Uint8Array
  | readonly DocumentValue[]
  | { readonly [key: string]: DocumentValue };

/** A JSON object. */
export type DocumentObject = { readonly [key: string]: DocumentValue };

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const SHORT_NUMBERS = 1024;
const SHORT_BYTES = 16 * 1024;

/** A 64-bit integer: a number where a double holds it exactly, else its decimal digits. */
export function int64(value: bigint): number | string {
  return value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : value.toString();
}

/** Puts values into the form that prints fast, and notes whether any had to stay in the compact one. */
export class ValueBuilder {
  /** True once a value needs {@link DocumentValue}s beyond what `JSON.stringify` prints. */
  long = false;

  /** @param plain use only what `JSON.stringify` prints, whatever memory it takes */
  constructor(private readonly plain = false) {}

  int64s(values: BigInt64Array): DocumentValue {
    if (values.length > SHORT_NUMBERS && !this.plain) {
      this.long = true;
      return values;
    }
    return Array.from(values, int64);
  }

  base64(bytes: Uint8Array): DocumentValue {
    if (bytes.length > SHORT_BYTES && !this.plain) {
      this.long = true;
      return bytes;
    }
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }
}
