/** Writes keys of Flink SQL in their binary form, as the code does that Flink generates for them. See `binary-section.ts`. */
import { parseBase64 } from '../arrays.js';
import { bytesOfBigInt, parseBigDecimal } from '../big-numbers.js';
import { parseDateTime, parseTime } from '../iso-time.js';
import { isInteger, parseLong } from '../parse-number.js';
import { rowParts } from '../records.js';
import { parseEpochDay } from '../times.js';
import { failToWrite, type StateValue } from '../value-serializer.js';
import { MAX_COMPACT_PRECISION, MAX_COMPACT_TIMESTAMP, ROW_HEADER_BITS, rowHeaderBytes } from './binary-section.js';
import type { SqlType } from './logical-type.js';

/** Bytes that fit a slot. */
const MAX_IN_PLACE = 7;
/** Room that Flink keeps for a decimal that does not fit a long. */
const DECIMAL_BYTES = 16;
const DAY_NANOS_OF_SECOND = 1_000_000;

/** Why rows with such a field cannot be written; undefined if they can. */
export function unwritableSqlType(type: SqlType): string | undefined {
  switch (type.kind) {
    case 'array':
    case 'map':
    case 'raw':
    case 'unknown':
      return `${type.text} cannot be written`;
    case 'row':
      return type.fields.map((field) => unwritableSqlType(field.type)).find((reason) => reason !== undefined);
    default:
      return undefined;
  }
}

/** A row in the making. */
class RowWriter {
  private readonly fixed: Buffer;
  private readonly variable: Buffer[] = [];
  private cursor: number;

  constructor(
    private readonly types: readonly SqlType[],
    kind: number,
  ) {
    this.cursor = rowHeaderBytes(types.length) + 8 * types.length;
    this.fixed = Buffer.alloc(this.cursor);
    this.fixed[0] = kind;
  }

  bytes(): Buffer {
    return Buffer.concat([this.fixed, ...this.variable]);
  }

  write(index: number, value: StateValue): void {
    const type = this.types[index] as SqlType;
    const slot = rowHeaderBytes(this.types.length) + 8 * index;
    if (value === null) this.writeNull(index, type, slot);
    else if (!this.writeFixed(type, slot, value)) this.writeVariable(type, slot, value);
  }

  /** Values that can be changed in place keep their room when they are null: so does the code that Flink generates. */
  private writeNull(index: number, type: SqlType, slot: number): void {
    const bit = ROW_HEADER_BITS + index;
    this.fixed[bit >> 3] = (this.fixed[bit >> 3] as number) | (1 << (bit & 7));
    if (type.kind === 'decimal' && type.precision > MAX_COMPACT_PRECISION) {
      this.append(slot, Buffer.alloc(DECIMAL_BYTES), 0);
    }
    if (type.kind === 'timestamp' && type.precision > MAX_COMPACT_TIMESTAMP) this.append(slot, Buffer.alloc(8), 0);
  }

  /** Adds to the variable part, and lets the slot point at it. */
  private append(slot: number, bytes: Buffer, size: number): void {
    this.fixed.writeInt32LE(size, slot);
    this.fixed.writeInt32LE(this.cursor, slot + 4);
    const padded = Buffer.alloc((bytes.length + 7) & ~7);
    bytes.copy(padded);
    this.variable.push(padded);
    this.cursor += padded.length;
  }

  private writeFixed(type: SqlType, slot: number, value: StateValue): boolean {
    const { fixed } = this;
    switch (type.kind) {
      case 'boolean':
        if (typeof value !== 'boolean') failToWrite(type.text, value);
        fixed[slot] = value ? 1 : 0;
        return true;
      case 'tinyint':
        fixed.writeInt8(integer(type, value, 1), slot);
        return true;
      case 'smallint':
        fixed.writeInt16LE(integer(type, value, 2), slot);
        return true;
      case 'int':
      case 'months':
        fixed.writeInt32LE(integer(type, value, 4), slot);
        return true;
      case 'bigint':
      case 'millis':
        fixed.writeBigInt64LE(parseLong(value) ?? failToWrite(type.text, value), slot);
        return true;
      case 'float':
        fixed.writeFloatLE(float(type, value), slot);
        return true;
      case 'double':
        fixed.writeDoubleLE(float(type, value), slot);
        return true;
      case 'date':
        fixed.writeInt32LE(dateNumber(type, value), slot);
        return true;
      case 'time':
        fixed.writeInt32LE(timeNumber(type, value), slot);
        return true;
      default:
        return false;
    }
  }

  private writeVariable(type: SqlType, slot: number, value: StateValue): void {
    switch (type.kind) {
      case 'string':
        if (typeof value !== 'string') failToWrite(type.text, value);
        this.writeBytes(slot, Buffer.from(value, 'utf8'));
        return;
      case 'bytes':
        this.writeBytes(slot, Buffer.from(parseBase64(value) ?? failToWrite(type.text, value)));
        return;
      case 'decimal':
        this.writeDecimal(type, slot, value);
        return;
      case 'timestamp':
        this.writeTimestamp(type, slot, value);
        return;
      case 'row': {
        const bytes = Buffer.from(
          writeBinaryRow(
            type.fields.map((field) => field.type),
            type.text,
            value,
          ),
        );
        this.append(slot, bytes, bytes.length);
        return;
      }
      default:
        failToWrite(type.text, value);
    }
  }

  private writeBytes(slot: number, bytes: Buffer): void {
    if (bytes.length > MAX_IN_PLACE) {
      this.append(slot, bytes, bytes.length);
      return;
    }
    bytes.copy(this.fixed, slot);
    this.fixed[slot + 7] = 0x80 | bytes.length;
  }

  private writeDecimal(type: SqlType & { readonly kind: 'decimal' }, slot: number, value: StateValue): void {
    const number = parseBigDecimal(value) ?? failToWrite(type.text, value);
    const shift = type.scale - number.scale;
    if (shift < 0 || shift > type.precision) failToWrite(type.text, value);
    const unscaled = number.unscaled * 10n ** BigInt(shift);
    const magnitude = unscaled < 0n ? -unscaled : unscaled;
    if (magnitude >= 10n ** BigInt(type.precision)) failToWrite(type.text, value);
    if (type.precision <= MAX_COMPACT_PRECISION) {
      this.fixed.writeBigInt64LE(unscaled, slot);
      return;
    }
    const bytes = bytesOfBigInt(unscaled);
    const room = Buffer.alloc(DECIMAL_BYTES);
    room.set(bytes);
    this.append(slot, room, bytes.length);
  }

  private writeTimestamp(type: SqlType & { readonly kind: 'timestamp' }, slot: number, value: StateValue): void {
    const text = typeof value === 'string' ? value.replace(/Z$/, '') : '';
    const { seconds, nanos } = parseDateTime(text) ?? failToWrite(type.text, value);
    const rest = nanos % DAY_NANOS_OF_SECOND;
    const millis = seconds * 1000n + BigInt((nanos - rest) / DAY_NANOS_OF_SECOND);
    if (type.precision <= MAX_COMPACT_TIMESTAMP) {
      if (rest !== 0) failToWrite(type.text, value);
      this.fixed.writeBigInt64LE(millis, slot);
      return;
    }
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(millis);
    this.append(slot, bytes, rest);
  }
}

/**
 * A row in its binary form.
 * @param value `{kind, fields}`, or an array of the fields
 * @throws UnwritableValueError
 */
export function writeBinaryRow(types: readonly SqlType[], text: string, value: StateValue): Uint8Array {
  const parts = rowParts(value, types.length) ?? failToWrite(text, value);
  const row = new RowWriter(types, parts.kind);
  for (const [i, field] of parts.fields.entries()) row.write(i, field);
  return row.bytes();
}

function integer(type: SqlType, value: StateValue, bytes: number): number {
  const limit = 2 ** (8 * bytes - 1);
  return isInteger(value) && value >= -limit && value < limit ? value : failToWrite(type.text, value);
}

function float(type: SqlType, value: StateValue): number {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  return failToWrite(type.text, value);
}

/** Days, or a date. */
function dateNumber(type: SqlType, value: StateValue): number {
  return typeof value === 'string' ? (parseEpochDay(value) ?? failToWrite(type.text, value)) : integer(type, value, 4);
}

/** Milliseconds of the day, or a time. */
function timeNumber(type: SqlType, value: StateValue): number {
  if (typeof value !== 'string') return integer(type, value, 4);
  const time = parseTime(value);
  if (time === undefined || time.nanos % 1_000_000 !== 0) failToWrite(type.text, value);
  return (time.hour * 3600 + time.minute * 60 + time.second) * 1000 + time.nanos / 1_000_000;
}
