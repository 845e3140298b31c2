/** `BigInteger` and `BigDecimal`. Origin: Flink `BigIntSerializer`, `BigDecSerializer`. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { makeSerializer } from './derived.js';
import type { StateValue, ValueSerializer } from './value-serializer.js';

/** In place of a length: null, 0, 1 and 10; lengths follow. */
const SHORT_FORMS: readonly (bigint | null)[] = [null, 0n, 1n, 10n];
const LENGTH_OFFSET = 4;
/** Digits of a number of this size are printed in well under a second. */
const MAX_BYTES = 1 << 18;

/** A number in two's complement, big-endian. */
export function bigIntOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  const unsigned = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`);
  return BigInt.asIntN(8 * bytes.length, unsigned);
}

/** As {@link bigIntOf} reads it, in as few bytes as can be: what `BigInteger.toByteArray` returns. */
export function bytesOfBigInt(value: bigint): Uint8Array {
  // One bit is for the sign: 128 takes two bytes, -128 one.
  const bits = (value < 0n ? -value - 1n : value).toString(2).length;
  const length = value === 0n || value === -1n ? 1 : Math.floor(bits / 8) + 1;
  const hex = BigInt.asUintN(8 * length, value).toString(16);
  return Buffer.from(hex.padStart(2 * length, '0'), 'hex');
}

/** Reads a `BigInteger`, which may be null. @throws ByteFormatError */
function readBigInteger(reader: ByteReader): bigint | null {
  const at = reader.offset;
  const length = reader.readI32('length of a BigInteger');
  const short = SHORT_FORMS[length];
  if (short !== undefined) return short;
  const bytes = length - LENGTH_OFFSET;
  if (bytes <= 0 || bytes > MAX_BYTES) reader.fail('length of a BigInteger', `${bytes}`, at);
  const start = reader.take(bytes, 'a BigInteger');
  return bigIntOf(reader.buffer.subarray(start, start + bytes));
}

/** Returns false for null. */
function skipBigInteger(reader: ByteReader): boolean {
  const at = reader.offset;
  const length = reader.readI32('length of a BigInteger');
  if (length < 0 || length === LENGTH_OFFSET) reader.fail('length of a BigInteger', `${length}`, at);
  if (length > LENGTH_OFFSET) reader.take(length - LENGTH_OFFSET, 'a BigInteger');
  return length !== 0;
}

function writeBigInteger(value: bigint | null, writer: ByteWriter): void {
  // What `valueOf` returns, and what Flink has read before, has the short form; `new BigInteger("1")` has the long one.
  const short = SHORT_FORMS.indexOf(value);
  if (short >= 0 || value === null) {
    writer.writeI32(short);
    return;
  }
  const bytes = bytesOfBigInt(value);
  writer.writeI32(bytes.length + LENGTH_OFFSET);
  writer.writeBytes(bytes);
}

/** `BigInteger.hashCode`: over the magnitude in words of 32 bits, highest first. */
export function hashBigInteger(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const hex = magnitude.toString(16);
  let hash = 0;
  const first = hex.length % 8;
  for (let at = first === 0 ? 0 : first - 8; at < hex.length; at += 8) {
    hash = (Math.imul(31, hash) + Number.parseInt(hex.slice(Math.max(at, 0), at + 8), 16)) | 0;
  }
  return value < 0n ? -hash | 0 : hash;
}

/** `BigDecimal.hashCode`. */
export function hashBigDecimal(unscaled: bigint, scale: number): number {
  // Java keeps what fits a long, its least value aside, in one, and hashes it as two words; which comes to the same as the
  // hash of a BigInteger.
  return (Math.imul(31, hashBigInteger(unscaled)) + scale) | 0;
}

/** Longest run of zeros that is worth printing. */
const MAX_ZEROS = 10_000;

/** `BigDecimal.toString`: with an exponent where the number is long for few digits. */
export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  const sign = unscaled < 0n ? '-' : '';
  if (scale === 0) return sign + digits;
  const exponent = -scale + (digits.length - 1);
  if (scale > 0 && exponent >= -6) return sign + plainText(digits, scale);
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  if (exponent === 0) return sign + mantissa;
  return `${sign}${mantissa}E${exponent > 0 ? '+' : ''}${exponent}`;
}

/** `BigDecimal.toPlainString` of something of a few digits. */
export function plainDecimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  const sign = unscaled < 0n ? '-' : '';
  if (scale > 0) return sign + plainText(digits, scale);
  return unscaled === 0n ? '0' : sign + digits + '0'.repeat(Math.min(-scale, MAX_ZEROS));
}

function plainText(digits: string, scale: number): string {
  const padded = digits.padStart(scale + 1, '0');
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

const INTEGER = /^[+-]?\d{1,100000}$/;
const DECIMAL = /^([+-]?)(\d{0,100000})(?:\.(\d{0,100000}))?(?:[eE]([+-]?\d{1,9}))?$/;

/** A number that stands in JSON as a string, or as a number where it is short; undefined if it is no whole number. */
export function parseBigInteger(value: StateValue): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && INTEGER.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

/** A decimal number by its digits, which decide the scale, as `new BigDecimal(String)` reads it; undefined if it is none. */
export function parseBigDecimal(value: StateValue): { readonly unscaled: bigint; readonly scale: number } | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  if (digits === '') return undefined;
  const magnitude = BigInt(digits);
  return { unscaled: sign === '-' ? -magnitude : magnitude, scale: fraction.length - Number(exponent) };
}

export const BIG_INTEGER: ValueSerializer = makeSerializer({
  type: 'BigInteger',
  read: (reader) => readBigInteger(reader)?.toString() ?? null,
  skip: (reader) => void skipBigInteger(reader),
  hash: (reader) => hashBigInteger(readBigInteger(reader) ?? 0n),
  write(value, writer) {
    const number = value === null ? null : parseBigInteger(value);
    if (number === undefined) return false;
    writeBigInteger(number, writer);
    return true;
  },
});

export const BIG_DECIMAL: ValueSerializer = makeSerializer({
  type: 'BigDecimal',
  read(reader) {
    const unscaled = readBigInteger(reader);
    return unscaled === null ? null : decimalText(unscaled, reader.readI32('scale of a BigDecimal'));
  },
  skip(reader) {
    if (skipBigInteger(reader)) reader.take(4, 'scale of a BigDecimal');
  },
  hash(reader) {
    const unscaled = readBigInteger(reader);
    return unscaled === null ? 0 : hashBigDecimal(unscaled, reader.readI32('scale of a BigDecimal'));
  },
  write(value, writer) {
    const number = value === null ? null : parseBigDecimal(value);
    if (number === undefined) return false;
    writeBigInteger(number?.unscaled ?? null, writer);
    if (number !== null) writer.writeI32(number.scale);
    return true;
  },
});
