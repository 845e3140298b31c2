/**
 * Types of Flink SQL as its snapshots hold them: Java object streams of `LogicalType`. Origin: the classes of
 * `org.apache.flink.table.types.logical`; their texts are those of `asSummaryString`.
 */
import { ByteFormatError } from '../../../bytes/byte-format-error.js';
import { isJavaObject, type JavaObject, type JavaValue, javaField } from '../../java/java-value.js';
import { readJavaObject } from '../../java/object-stream.js';
import { enumField, intField, javaList, textField } from './java-collections.js';

/** A type, by how its values are stored. `text` is as in SQL. */
export type SqlType =
  | { readonly kind: SqlScalar; readonly text: string }
  | { readonly kind: 'decimal'; readonly text: string; readonly precision: number; readonly scale: number }
  /** With local time zone or without: the values look alike. */
  | { readonly kind: 'timestamp'; readonly text: string; readonly precision: number }
  | { readonly kind: 'array'; readonly text: string; readonly element: SqlType }
  | { readonly kind: 'map'; readonly text: string; readonly key: SqlType; readonly value: SqlType }
  | { readonly kind: 'row'; readonly text: string; readonly fields: readonly SqlRowField[] }
  /** One whose values are not known here. */
  | { readonly kind: 'unknown'; readonly text: string };

/** Types without parameters that matter to the bytes. Months and milliseconds are intervals. */
export type SqlScalar =
  | 'boolean'
  | 'tinyint'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'months'
  | 'millis'
  | 'string'
  | 'bytes'
  | 'raw'
  | 'null';

/** A field of a row. */
export interface SqlRowField {
  readonly name: string;
  readonly type: SqlType;
}

const PACKAGE = 'org.apache.flink.table.types.logical.';
const MAX_DEPTH = 50;
/** Types in one type: the parts of a stream can be shared, so that few bytes make many types. */
const MAX_TYPES = 10_000;
/** Of strings and bytes without a limit. */
const MAX_LENGTH = 0x7fff_ffff;

/** The type that a Java object stream holds; an unknown one if it holds something else. */
export function parseLogicalType(bytes: Uint8Array): SqlType {
  try {
    return new LogicalTypes().typeOf(readJavaObject(bytes, 0).value, 0);
  } catch (error) {
    if (error instanceof ByteFormatError) return { kind: 'unknown', text: 'UNKNOWN' };
    throw error;
  }
}

/** See {@link parseLogicalType}. */
class LogicalTypes {
  private types = 0;

  typeOf(value: JavaValue | undefined, depth: number): SqlType {
    if (++this.types > MAX_TYPES || depth > MAX_DEPTH || !isJavaObject(value)) {
      return { kind: 'unknown', text: 'UNKNOWN' };
    }
    const type = this.bareType(value, depth);
    const notNull = javaField(value, 'isNullable') === false && type.kind !== 'null';
    return notNull ? { ...type, text: `${type.text} NOT NULL` } : type;
  }

  private bareType(object: JavaObject, depth: number): SqlType {
    const className = object.descriptor.name ?? '';
    const name = className.startsWith(PACKAGE) ? className.slice(PACKAGE.length) : className;
    const precision = intField(object, 'precision') ?? 0;
    switch (name) {
      case 'BooleanType':
        return { kind: 'boolean', text: 'BOOLEAN' };
      case 'TinyIntType':
        return { kind: 'tinyint', text: 'TINYINT' };
      case 'SmallIntType':
        return { kind: 'smallint', text: 'SMALLINT' };
      case 'IntType':
        return { kind: 'int', text: 'INT' };
      case 'BigIntType':
        return { kind: 'bigint', text: 'BIGINT' };
      case 'FloatType':
        return { kind: 'float', text: 'FLOAT' };
      case 'DoubleType':
        return { kind: 'double', text: 'DOUBLE' };
      case 'DateType':
        return { kind: 'date', text: 'DATE' };
      case 'TimeType':
        return { kind: 'time', text: `TIME(${precision})` };
      case 'CharType':
        return { kind: 'string', text: `CHAR(${intField(object, 'length')})` };
      case 'VarCharType':
        return { kind: 'string', text: lengthText(object, 'STRING', 'VARCHAR') };
      case 'BinaryType':
        return { kind: 'bytes', text: `BINARY(${intField(object, 'length')})` };
      case 'VarBinaryType':
        return { kind: 'bytes', text: lengthText(object, 'BYTES', 'VARBINARY') };
      case 'DecimalType': {
        const scale = intField(object, 'scale') ?? 0;
        return { kind: 'decimal', text: `DECIMAL(${precision}, ${scale})`, precision, scale };
      }
      case 'TimestampType':
        return { kind: 'timestamp', text: `TIMESTAMP(${precision})${kindText(object)}`, precision };
      case 'LocalZonedTimestampType':
        return { kind: 'timestamp', text: `TIMESTAMP_LTZ(${precision})${kindText(object)}`, precision };
      case 'ZonedTimestampType':
        return { kind: 'unknown', text: `TIMESTAMP(${precision}) WITH TIME ZONE` };
      case 'YearMonthIntervalType':
        return { kind: 'months', text: yearMonthText(object) };
      case 'DayTimeIntervalType':
        return { kind: 'millis', text: dayTimeText(object) };
      case 'NullType':
        return { kind: 'null', text: 'NULL' };
      case 'VariantType':
        return { kind: 'bytes', text: 'VARIANT' };
      case 'BitmapType':
        return { kind: 'bytes', text: 'BITMAP' };
      default:
        return this.nestedType(name, object, depth + 1);
    }
  }

  private nestedType(name: string, object: JavaObject, depth: number): SqlType {
    switch (name) {
      case 'ArrayType': {
        const element = this.typeOf(javaField(object, 'elementType'), depth);
        return { kind: 'array', text: `ARRAY<${element.text}>`, element };
      }
      case 'MapType': {
        const key = this.typeOf(javaField(object, 'keyType'), depth);
        const value = this.typeOf(javaField(object, 'valueType'), depth);
        return { kind: 'map', text: `MAP<${key.text}, ${value.text}>`, key, value };
      }
      case 'MultisetType': {
        const key = this.typeOf(javaField(object, 'elementType'), depth);
        return { kind: 'map', text: `MULTISET<${key.text}>`, key, value: { kind: 'int', text: 'INT NOT NULL' } };
      }
      case 'RowType':
        return rowType(this.fieldsOf(javaField(object, 'fields'), depth));
      case 'StructuredType':
        return this.structuredType(object, depth);
      case 'DistinctType':
        return this.typeOf(javaField(object, 'sourceType'), depth);
      case 'RawType':
      case 'TypeInformationRawType':
        return { kind: 'raw', text: `RAW('${rawClass(object)}', '...')` };
      case 'LegacyTypeInformationType': {
        const root = enumField(object, 'typeRoot') ?? '?';
        return { kind: root === 'RAW' ? 'raw' : 'unknown', text: `LEGACY('${root}', '...')` };
      }
      default:
        return { kind: 'unknown', text: name === '' ? 'UNKNOWN' : name };
    }
  }

  private fieldsOf(list: JavaValue | undefined, depth: number): SqlRowField[] {
    return (javaList(list) ?? []).filter(isJavaObject).map((field) => ({
      name: textField(field, 'name') ?? '',
      type: this.typeOf(javaField(field, 'type'), depth),
    }));
  }

  /** Attributes of its supertype come first. */
  private structuredType(object: JavaObject, depth: number): SqlType {
    const superType = javaField(object, 'superType');
    const inherited =
      isJavaObject(superType) && depth < MAX_DEPTH ? this.structuredType(superType, depth + 1) : undefined;
    const own = this.fieldsOf(javaField(object, 'attributes'), depth);
    const fields = [...(inherited?.kind === 'row' ? inherited.fields : []), ...own];
    const javaClass = textField(object, 'className') ?? className(javaField(object, 'implementationClass'));
    if (javaClass === undefined) return rowType(fields);
    return { kind: 'row', text: `STRUCTURED<'${javaClass}'${fields.map(afterComma).join('')}>`, fields };
  }
}

const afterComma = (field: SqlRowField): string => `, ${fieldText(field)}`;

/** `ROW<…>` with these fields. */
export function rowType(fields: readonly SqlRowField[]): SqlType {
  return { kind: 'row', text: `ROW<${fields.map(fieldText).join(', ')}>`, fields };
}

function fieldText({ name, type }: SqlRowField): string {
  return `\`${name.replaceAll('`', '``')}\` ${type.text}`;
}

function lengthText(object: JavaObject, unlimited: string, limited: string): string {
  const length = intField(object, 'length') ?? MAX_LENGTH;
  return length === MAX_LENGTH ? unlimited : `${limited}(${length})`;
}

function kindText(object: JavaObject): string {
  const kind = enumField(object, 'kind');
  return kind === undefined || kind === 'REGULAR' ? '' : ` *${kind}*`;
}

function yearMonthText(object: JavaObject): string {
  const years = intField(object, 'yearPrecision') ?? 2;
  switch (enumField(object, 'resolution')) {
    case 'YEAR':
      return `INTERVAL YEAR(${years})`;
    case 'MONTH':
      return 'INTERVAL MONTH';
    default:
      return `INTERVAL YEAR(${years}) TO MONTH`;
  }
}

function dayTimeText(object: JavaObject): string {
  const resolution = enumField(object, 'resolution') ?? 'DAY_TO_SECOND';
  const days = intField(object, 'dayPrecision') ?? 2;
  const fraction = intField(object, 'fractionalPrecision') ?? 6;
  return `INTERVAL ${resolution.replaceAll('_', ' ').replace('DAY', `DAY(${days})`).replace('SECOND', `SECOND(${fraction})`)}`;
}

function className(value: JavaValue | undefined): string | undefined {
  if (typeof value !== 'object' || value === null || value.kind !== 'class') return undefined;
  return value.descriptor.name ?? undefined;
}

function rawClass(object: JavaObject): string {
  return className(javaField(object, 'clazz')) ?? '?';
}
