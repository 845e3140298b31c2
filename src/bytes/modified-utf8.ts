/**
 * Java's modified UTF-8 (`DataInput.readUTF`, `DataOutput.writeUTF`) without the length in front: U+0000 is `C0 80`, a
 * supplementary character is its two surrogates with three bytes each, lone surrogates are legal.
 */
import { ByteFormatError } from './byte-format-error.js';

/** Longest encoded string that the 16-bit length in front of it allows, in bytes. */
export const MAX_UTF_BYTES = 0xffff;

/** Longest run of code units handed to `String.fromCharCode` at once: its arguments go on the stack. */
const UNITS_AT_ONCE = 4096;

/** True if all bytes in [start, end) are ASCII and none is 0: such text is the same in every encoding. */
export function isPlainAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === 0 || byte >= 0x80) return false;
  }
  return true;
}

/** Bytes of the character that begins with this byte, 0 if none can. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first >= 0xc0 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return 0;
}

/**
 * Checks [start, end) as Java's reader does, which also takes overlong forms and a plain zero byte.
 * @param offset of `bytes[start]` in the input, for the error
 * @throws ByteFormatError at the first byte that begins no character or lacks a continuation
 */
export function checkModifiedUtf8(
  bytes: Uint8Array,
  start: number,
  end: number,
  offset: number,
  reading: string,
): void {
  let i = start;
  while (i < end) {
    const length = sequenceLength(bytes[i] as number);
    let sound = length > 0 && i + length <= end;
    for (let k = 1; sound && k < length; k++) sound = ((bytes[i + k] as number) & 0xc0) === 0x80;
    if (!sound) {
      const hex = (bytes[i] as number).toString(16).padStart(2, '0');
      throw new ByteFormatError(offset + i - start, reading, `byte 0x${hex}, which is not modified UTF-8`);
    }
    i += length;
  }
}

/**
 * Decodes the bytes in [start, end).
 * @throws ByteFormatError with an offset relative to `bytes` if they are not modified UTF-8
 */
export function decodeModifiedUtf8(bytes: Uint8Array, start: number, end: number): string {
  checkModifiedUtf8(bytes, start, end, start, 'modified UTF-8');
  let text = '';
  const units: number[] = [];
  let i = start;
  while (i < end) {
    const first = bytes[i] as number;
    if (first < 0x80) {
      units.push(first);
      i += 1;
    } else if (first < 0xe0) {
      units.push(((first & 0x1f) << 6) | ((bytes[i + 1] as number) & 0x3f));
      i += 2;
    } else {
      units.push(((first & 0x0f) << 12) | (((bytes[i + 1] as number) & 0x3f) << 6) | ((bytes[i + 2] as number) & 0x3f));
      i += 3;
    }
    if (units.length >= UNITS_AT_ONCE) {
      text += String.fromCharCode(...units);
      units.length = 0;
    }
  }
  return text + String.fromCharCode(...units);
}

/** Bytes that {@link encodeModifiedUtf8} needs for the text. */
export function modifiedUtf8Length(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    length += unit > 0 && unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return length;
}

/** Encodes the text in the one form that Java writes. The caller checks {@link MAX_UTF_BYTES} where it applies. */
export function encodeModifiedUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(modifiedUtf8Length(text));
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0 && unit < 0x80) {
      bytes[at++] = unit;
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes;
}
