/** The parts of a Java object stream that contain no objects: numbers, strings, references, blocks of primitives. */
import { ByteReader, Utf8Slice } from '../../bytes/byte-reader.js';
import { decodeModifiedUtf8 } from '../../bytes/modified-utf8.js';
import type { JavaValue } from './java-value.js';
import {
  BASE_HANDLE,
  TC_BLOCKDATA,
  TC_BLOCKDATALONG,
  TC_ENDBLOCKDATA,
  TC_EXCEPTION,
  TC_LONGSTRING,
  TC_REFERENCE,
  TC_RESET,
  TC_STRING,
} from './stream-constants.js';

/** What a reference can name. */
export type Referable = Exclude<JavaValue, null | boolean | number | bigint>;

/** Bytes of a value in a field or an array element, by type code. Anything that is not a primitive takes at least one. */
export const VALUE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  C: 2,
  D: 8,
  F: 4,
  I: 4,
  J: 8,
  S: 2,
  Z: 1,
  L: 1,
  '[': 1,
};

/**
 * Most strings, objects, arrays, classes and runs of primitives in one stream. Seven bytes can make an object that takes 400
 * in memory: this keeps a hostile stream below half a gigabyte, and is far above what Flink puts into one.
 */
const MAX_JAVA_VALUES = 1_000_000;

/** Below the longest string that V8 can make. */
const MAX_STRING_BYTES = 0x1fff_0000;

/** See the file comment. All methods throw ByteFormatError, with offsets relative to the bytes given. */
export class StreamInput {
  readonly reader: ByteReader;
  /** Strings, objects, enum constants, arrays, classes and class descriptors, in the order in which they begin. */
  private readonly handles: Referable[] = [];
  private blocks = 0;
  private readonly utf = new Utf8Slice();
  private readonly view: DataView;

  constructor(
    readonly bytes: Uint8Array,
    start: number,
  ) {
    this.reader = ByteReader.over(bytes);
    this.reader.position = start;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Gives the value the next number. */
  register<T extends Referable>(value: T): T {
    this.handles.push(value);
    this.checkNumber();
    return value;
  }

  private checkNumber(): void {
    if (this.handles.length + this.blocks <= MAX_JAVA_VALUES) return;
    this.reader.fail('the end of a Java object', `more than ${MAX_JAVA_VALUES} parts of it`);
  }

  /** What the reference names, whose tag has been read. */
  readReference(reading: string): Referable {
    const offset = this.reader.offset;
    const handle = this.reader.readI32(reading);
    const value = this.handles[handle - BASE_HANDLE];
    if (value !== undefined) return value;
    return this.reader.fail(reading, `0x${(handle >>> 0).toString(16)}, which names nothing so far`, offset);
  }

  /** The next byte, which stays where it is. */
  peek(reading: string): number {
    const byte = this.reader.readU8(reading);
    this.reader.position--;
    return byte;
  }

  readU16(reading: string): number {
    return this.view.getUint16(this.reader.take(2, reading));
  }

  /** A text with a 16-bit length that gets no number, like the name of a class. */
  readUtf(reading: string): string {
    this.reader.readUtf(reading, this.utf);
    return this.utf.text();
  }

  /** The string after TC_STRING or TC_LONGSTRING. */
  readNewString(tag: number): string {
    return this.register(tag === TC_STRING ? this.readUtf('a string') : this.readLongText());
  }

  private readLongText(): string {
    const reading = 'the length of a string';
    const offset = this.reader.offset;
    const length = BigInt.asUintN(64, this.reader.readBigInt64(reading));
    if (length > BigInt(Math.min(this.reader.remaining, MAX_STRING_BYTES))) {
      this.reader.fail(reading, `${length} where ${this.reader.remaining} bytes remain`, offset);
    }
    const start = this.reader.take(Number(length), 'a string');
    return decodeModifiedUtf8(this.bytes, start, this.reader.position);
  }

  /** A string where the grammar has one as a part of something else: new, or a reference to an earlier one. */
  readString(reading: string): string {
    const offset = this.reader.offset;
    const tag = this.reader.readU8(reading);
    if (tag === TC_STRING || tag === TC_LONGSTRING) return this.readNewString(tag);
    if (tag !== TC_REFERENCE) return this.reader.fail(reading, describeTag(tag), offset);
    const value = this.readReference(reading);
    return typeof value === 'string' ? value : this.reader.fail(reading, 'a reference to something else', offset);
  }

  /** A value of a primitive type. */
  readPrimitive(typeCode: string): boolean | number | bigint | string {
    const { view } = this;
    const at = this.reader.take(VALUE_BYTES[typeCode] ?? 0, 'a primitive value');
    switch (typeCode) {
      case 'B':
        return view.getInt8(at);
      case 'C':
        return String.fromCharCode(view.getUint16(at));
      case 'D':
        return view.getFloat64(at);
      case 'F':
        return view.getFloat32(at);
      case 'I':
        return view.getInt32(at);
      case 'J':
        return view.getBigInt64(at);
      case 'S':
        return view.getInt16(at);
      default:
        return view.getUint8(at) !== 0;
    }
  }

  /**
   * All blocks of primitives up to something else, joined: where Java splits them depends on its buffer only. Two passes, so
   * that many tiny blocks cost no more than their bytes.
   */
  readBlocks(): Uint8Array {
    const { reader } = this;
    const start = reader.position;
    let length = 0;
    for (let block = this.nextBlock(); block >= 0; block = this.nextBlock()) {
      reader.take(block, 'block data');
      length += block;
    }
    this.blocks++;
    this.checkNumber();
    const joined = new Uint8Array(length);
    reader.position = start;
    let at = 0;
    for (let block = this.nextBlock(); block >= 0; block = this.nextBlock()) {
      const from = reader.take(block, 'block data');
      joined.set(this.bytes.subarray(from, from + block), at);
      at += block;
    }
    return joined;
  }

  /** Steps over the head of a block, if one is next, and returns its length; -1 if none is. */
  private nextBlock(): number {
    const { reader } = this;
    const tag = this.peek('a Java object or the end of an annotation');
    if (tag !== TC_BLOCKDATA && tag !== TC_BLOCKDATALONG) return -1;
    reader.position++;
    return tag === TC_BLOCKDATA ? reader.readU8('a block length') : reader.readCount('a block length', 1);
  }
}

/** True for a field or element that holds an object or an array. */
export function isReferenceType(typeCode: string): boolean {
  return typeCode === 'L' || typeCode === '[';
}

/** A name out of the input for an error message: in quotes, not too long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** What a byte means in the place of a tag, for error messages. */
export function describeTag(tag: number): string {
  if (tag === TC_BLOCKDATA || tag === TC_BLOCKDATALONG) return 'primitive data';
  if (tag === TC_ENDBLOCKDATA) return 'the end of an annotation';
  if (tag === TC_RESET) return 'a reset within an object';
  if (tag === TC_EXCEPTION) return 'an exception that ended the writing of the stream';
  return `0x${tag.toString(16).padStart(2, '0')}`;
}
