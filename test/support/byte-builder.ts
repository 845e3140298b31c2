/** Java's `DataOutput` by hand, without any of the code under test. */

/** A signed or unsigned byte. */
export const i8 = (value: number): Uint8Array => Buffer.of(value & 0xff);

/** A 16-bit integer. */
export function i16(value: number): Uint8Array {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

/** A 32-bit integer. */
export function i32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A 64-bit integer. */
export function i64(value: number | bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** Bytes from hex digits. */
export const hex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits.replace(/\s/g, ''), 'hex'));

/** One after the other. */
export const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** A 16-bit length and these encoded bytes. */
export function rawUtf(bytes: Uint8Array): Uint8Array {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return join(length, bytes);
}

/** A string of ASCII, or bytes that are encoded already. */
export function utf(text: string | Uint8Array): Uint8Array {
  if (typeof text !== 'string') return rawUtf(text);
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.some((byte) => byte === 0 || byte >= 0x80)) throw new Error('only ASCII: give other text as encoded bytes');
  return rawUtf(bytes);
}

/** A 32-bit count and what is counted. */
export const counted = (items: readonly Uint8Array[]): Uint8Array => join(i32(items.length), ...items);

/** 64-bit integers without a count. */
export const i64s = (values: readonly (number | bigint)[]): Uint8Array =>
  new Uint8Array(Buffer.concat(values.map(i64)));

/** A 32-bit length and the bytes. */
export const lengthed = (bytes: Uint8Array): Uint8Array => join(i32(bytes.length), bytes);
