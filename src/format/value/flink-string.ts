/**
 * Strings as Flink's `StringValue` writes them: the length plus one (0 is null), then each UTF-16 unit, all as numbers of seven
 * bits a byte, lowest first. Units need not form pairs: any Java string comes back as it was.
 */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { TypeDescription } from './type-description.js';
import { failToWrite, type StateValue, type ValueSerializer } from './value-serializer.js';

/** Below the longest string that V8 can make. */
const MAX_UNITS = 0x1fff_0000;
/** A call of the decoder costs as much as so many units one by one. */
const FEW_UNITS = 12;

/** Reads a number of seven bits a byte, of at most 32 bits. */
function readVarint(reader: ByteReader, reading: string): number {
  const first = reader.readU8(reading);
  if (first < 0x80) return first;
  const at = reader.offset - 1;
  let value = first & 0x7f;
  for (let scale = 0x80; scale <= 0x1000_0000; scale *= 0x80) {
    const byte = reader.readU8(reading);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  return reader.fail(reading, 'a number without an end', at);
}

/** Reads the length of a string in UTF-16 units; -1 for null. */
function readLength(reader: ByteReader): number {
  const at = reader.offset;
  const length = readVarint(reader, 'length of a string') - 1;
  if (length > reader.remaining || length > MAX_UNITS) {
    reader.fail('length of a string', `${length} where ${reader.remaining} bytes remain`, at);
  }
  return length;
}

/** True if [start, end) of the buffer is there and has only units of one byte. */
function isAscii(reader: ByteReader, length: number): boolean {
  if (length > reader.available) return false;
  const { buffer, position } = reader;
  const end = position + length;
  let bits = 0;
  for (let at = position; at < end; at++) bits |= buffer[at] as number;
  return bits < 0x80;
}

/** Reads a string, which may be null. @throws ByteFormatError */
export function readFlinkString(reader: ByteReader): string | null {
  const length = readLength(reader);
  if (length <= 0) return length < 0 ? null : '';
  if (!isAscii(reader, length)) return readUnits(reader, length);
  const start = reader.take(length, 'a string');
  if (length > FEW_UNITS) return reader.buffer.toString('latin1', start, start + length);
  let text = '';
  for (let at = start; at < start + length; at++) text += String.fromCharCode(reader.buffer[at] as number);
  return text;
}

function readUnits(reader: ByteReader, length: number): string {
  const units = new Uint16Array(length);
  for (let i = 0; i < length; i++) units[i] = readVarint(reader, 'a character of a string');
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Steps over a string. @throws ByteFormatError */
export function skipFlinkString(reader: ByteReader): void {
  let left = readLength(reader);
  if (left <= 0) return;
  // The last byte of each unit is below 128. A run of bytes has at most as many ends as bytes.
  while (left > 0) {
    const bytes = Math.min(left, reader.available);
    if (bytes === 0) reader.readU8('a character of a string');
    const start = reader.take(bytes, 'a string');
    const { buffer } = reader;
    let ends = bytes;
    for (let at = start; at < start + bytes; at++) ends -= (buffer[at] as number) >> 7;
    left -= ends;
  }
}

/** Reads a string and returns the hash code of the Java string; 0 for null. */
export function hashFlinkString(reader: ByteReader): number {
  const length = readLength(reader);
  let hash = 0;
  for (let i = 0; i < length; i++) {
    hash = (Math.imul(31, hash) + (readVarint(reader, 'a character of a string') & 0xffff)) | 0;
  }
  return hash;
}

/** Writes a string as Flink does. */
export function writeFlinkString(text: string | null, writer: ByteWriter): void {
  if (text === null) {
    writer.writeI8(0);
    return;
  }
  writeVarint(text.length + 1, writer);
  for (let i = 0; i < text.length; i++) writeVarint(text.charCodeAt(i), writer);
}

function writeVarint(value: number, writer: ByteWriter): void {
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) writer.writeI8((rest & 0x7f) | 0x80);
  writer.writeI8(rest);
}

class FlinkStrings implements ValueSerializer {
  readonly description: TypeDescription;
  readonly length = undefined;
  readonly undecodable = undefined;
  readonly unhashable = undefined;
  readonly unwritable = undefined;

  constructor(readonly type: string) {
    this.description = { kind: 'basic', name: type };
  }

  read(reader: ByteReader): string | null {
    return readFlinkString(reader);
  }

  skip(reader: ByteReader): void {
    skipFlinkString(reader);
  }

  hash(reader: ByteReader): number {
    return hashFlinkString(reader);
  }

  write(value: StateValue, writer: ByteWriter): void {
    if (value !== null && typeof value !== 'string') failToWrite(this.type, value);
    writeFlinkString(value, writer);
  }
}

export const STRING: ValueSerializer = new FlinkStrings('String');
/** The mutable strings of Flink's old API. */
export const STRING_VALUE: ValueSerializer = new FlinkStrings('StringValue');
