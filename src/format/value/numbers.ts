/** Numbers, booleans and characters of Java: big-endian, of fixed length. */
import type { ByteReader } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { isInteger, parseLong } from './parse-number.js';
import type { TypeDescription } from './type-description.js';
import { failToWrite, type StateValue, type ValueSerializer } from './value-serializer.js';

/** What -(2^53) and below, 2^53 and above have in the upper of two words. */
const UNSAFE_HIGH = 0x200000;
const TWO_32 = 0x1_0000_0000;

/** A 64-bit number in two words as JSON has it. */
export function longValue(high: number, low: number): number | string {
  if (high < UNSAFE_HIGH && (high > -UNSAFE_HIGH || (high === -UNSAFE_HIGH && low > 0))) return high * TWO_32 + low;
  return ((BigInt(high) << 32n) | BigInt(low)).toString();
}

/** A `double` as JSON has it: NaN and infinities are strings. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** `Float.MIN_NORMAL`. */
const LEAST_NORMAL_FLOAT = 2 ** -126;

/** A `float` as Java prints it: the shortest number that means the same `float`. */
export function floatValue(value: number): number | string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 0x1000000) return value;
  // Six digits are always exact enough, but for numbers so small that they have fewer.
  for (let digits = Math.abs(value) < LEAST_NORMAL_FLOAT ? 2 : 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/** A serializer of values that all take the same number of bytes, at least one. */
export abstract class FixedLength implements ValueSerializer {
  readonly description: TypeDescription;
  readonly undecodable: string | undefined = undefined;
  readonly unhashable: string | undefined = undefined;
  readonly unwritable: string | undefined = undefined;

  constructor(
    readonly type: string,
    readonly length: number,
  ) {
    this.description = { kind: 'basic', name: type };
  }

  abstract read(reader: ByteReader): StateValue;
  abstract hash(reader: ByteReader): number;
  abstract write(value: StateValue, writer: ByteWriter): void;

  skip(reader: ByteReader): void {
    reader.take(this.length, this.type);
  }
}

class BooleanValues extends FixedLength {
  read(reader: ByteReader): boolean {
    return reader.readU8(this.type) !== 0;
  }

  hash(reader: ByteReader): number {
    return this.read(reader) ? 1231 : 1237;
  }

  write(value: StateValue, writer: ByteWriter): void {
    if (typeof value !== 'boolean') failToWrite(this.type, value);
    writer.writeI8(value ? 1 : 0);
  }
}

/** `byte`, `short` and `int`. */
class IntegerValues extends FixedLength {
  private readonly limit: number;

  constructor(
    type: string,
    override readonly length: 1 | 2 | 4,
  ) {
    super(type, length);
    this.limit = 2 ** (8 * length - 1);
  }

  read(reader: ByteReader): number {
    switch (this.length) {
      case 1:
        return reader.readI8(this.type);
      case 2:
        return reader.readI16(this.type);
      case 4:
        return reader.readI32(this.type);
    }
  }

  hash(reader: ByteReader): number {
    return this.read(reader);
  }

  write(value: StateValue, writer: ByteWriter): void {
    const { limit } = this;
    if (!isInteger(value) || value < -limit || value >= limit) failToWrite(this.type, value);
    for (let shift = 8 * this.length - 8; shift >= 0; shift -= 8) writer.writeI8(value >> shift);
  }
}

class LongValues extends FixedLength {
  read(reader: ByteReader): number | string {
    reader.readI64(this.type);
    return longValue(reader.high, reader.low);
  }

  hash(reader: ByteReader): number {
    reader.readI64(this.type);
    return reader.high ^ reader.low;
  }

  write(value: StateValue, writer: ByteWriter): void {
    writer.writeI64(parseLong(value) ?? failToWrite(this.type, value));
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** The number that a value stands for: NaN and infinities are strings. */
function floatOf(value: StateValue): number | undefined {
  if (typeof value === 'number') return value;
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? Number(value) : undefined;
}

class FloatValues extends FixedLength {
  read(reader: ByteReader): number | string {
    return floatValue(reader.readF32(this.type));
  }

  hash(reader: ByteReader): number {
    // Java has one hash for all kinds of NaN: that of the usual one, which is what is set here.
    scratch.setFloat32(0, canonical(reader.readF32(this.type)));
    return scratch.getInt32(0);
  }

  write(value: StateValue, writer: ByteWriter): void {
    scratch.setFloat32(0, floatOf(value) ?? failToWrite(this.type, value));
    writer.writeI32(scratch.getInt32(0));
  }
}

class DoubleValues extends FixedLength {
  read(reader: ByteReader): number | string {
    return doubleValue(reader.readF64(this.type));
  }

  hash(reader: ByteReader): number {
    scratch.setFloat64(0, canonical(reader.readF64(this.type)));
    return scratch.getInt32(0) ^ scratch.getInt32(4);
  }

  write(value: StateValue, writer: ByteWriter): void {
    scratch.setFloat64(0, floatOf(value) ?? failToWrite(this.type, value));
    writer.writeI64(scratch.getBigInt64(0));
  }
}

function canonical(value: number): number {
  return Number.isNaN(value) ? Number.NaN : value;
}

/** A UTF-16 unit. */
class CharValues extends FixedLength {
  read(reader: ByteReader): string {
    return String.fromCharCode(reader.readU16(this.type));
  }

  hash(reader: ByteReader): number {
    return reader.readU16(this.type);
  }

  write(value: StateValue, writer: ByteWriter): void {
    if (typeof value !== 'string' || value.length !== 1) failToWrite(this.type, value);
    const unit = value.charCodeAt(0);
    writer.writeI8(unit >> 8);
    writer.writeI8(unit);
  }
}

/**
 * `Void` and the void namespace: one byte, and no value.
 * @param length what Flink says the length is
 */
class NoValues extends FixedLength {
  override skip(reader: ByteReader): void {
    reader.take(1, this.type);
  }

  read(reader: ByteReader): null {
    reader.take(1, this.type);
    return null;
  }

  /** That of `VoidNamespace`. */
  hash(reader: ByteReader): number {
    reader.take(1, this.type);
    return 99;
  }

  write(value: StateValue, writer: ByteWriter): void {
    if (value !== null) failToWrite(this.type, value);
    writer.writeI8(0);
  }
}

export const BOOLEAN: ValueSerializer = new BooleanValues('Boolean', 1);
export const BYTE: ValueSerializer = new IntegerValues('Byte', 1);
export const SHORT: ValueSerializer = new IntegerValues('Short', 2);
export const INT: ValueSerializer = new IntegerValues('Integer', 4);
export const LONG: ValueSerializer = new LongValues('Long', 8);
export const FLOAT: ValueSerializer = new FloatValues('Float', 4);
export const DOUBLE: ValueSerializer = new DoubleValues('Double', 8);
export const CHAR: ValueSerializer = new CharValues('Character', 2);
export const VOID: ValueSerializer = new NoValues('Void', 1);
export const VOID_NAMESPACE: ValueSerializer = new NoValues('VoidNamespace', 0);
