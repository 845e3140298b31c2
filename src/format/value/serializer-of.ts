/** Finds the decoder for what a serializer snapshot tells. */
import { ByteReader, Utf8Slice } from '../../bytes/byte-reader.js';
import type { OptionalMapEntry, SerializerSnapshot } from '../keyed/serializer-snapshot.js';
import {
  BOOLEAN_ARRAY,
  BYTES,
  bytesSerializer,
  CHAR_ARRAY,
  DOUBLE_ARRAY,
  FLOAT_ARRAY,
  INT_ARRAY,
  LONG_ARRAY,
  SHORT_ARRAY,
  STRING_ARRAY,
} from './arrays.js';
import { avroSerializer } from './avro.js';
import { BIG_DECIMAL, BIG_INTEGER } from './big-numbers.js';
import { elementsSerializer, mapSerializer } from './collections.js';
import {
  eitherSerializer,
  nullableSerializer,
  TUPLE_0,
  timerSerializer,
  ttlSerializer,
  tupleSerializer,
} from './composites.js';
import { STRING, STRING_VALUE } from './flink-string.js';
import { BOOLEAN, BYTE, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT, VOID, VOID_NAMESPACE } from './numbers.js';
import { kryoClassName, opaqueSerializer } from './opaque.js';
import { enumSerializer, type PojoSubclass, pojoSerializer, rowSerializer } from './records.js';
import { parseLogicalType, type SqlType } from './sql/logical-type.js';
import {
  decimalDataSerializer,
  rawValueSerializer,
  rowDataSerializer,
  STRING_DATA,
  sqlCollectionSerializer,
  timestampDataSerializer,
  windowKeySerializer,
} from './sql/sql-serializers.js';
import { DATE, INSTANT, LOCAL_DATE, LOCAL_DATE_TIME, LOCAL_TIME, SQL_DATE, SQL_TIME, SQL_TIMESTAMP } from './times.js';
import type { ValueSerializer } from './value-serializer.js';
import { COUNT_WINDOW, GLOBAL_WINDOW, TIME_WINDOW } from './windows.js';

/** Serializers without configuration, by the simple name of the snapshot class. */
const SIMPLE: Readonly<Record<string, ValueSerializer>> = {
  BigDecSerializerSnapshot: BIG_DECIMAL,
  BigIntSerializerSnapshot: BIG_INTEGER,
  BitmapSerializerSnapshot: bytesSerializer('Bitmap'),
  BooleanSerializerSnapshot: BOOLEAN,
  BooleanValueSerializerSnapshot: BOOLEAN,
  ByteSerializerSnapshot: BYTE,
  ByteValueSerializerSnapshot: BYTE,
  CharSerializerSnapshot: CHAR,
  CharValueSerializerSnapshot: CHAR,
  DateSerializerSnapshot: DATE,
  DoubleSerializerSnapshot: DOUBLE,
  DoubleValueSerializerSnapshot: DOUBLE,
  FloatSerializerSnapshot: FLOAT,
  FloatValueSerializerSnapshot: FLOAT,
  InstantSerializerSnapshot: INSTANT,
  IntSerializerSnapshot: INT,
  IntValueSerializerSnapshot: INT,
  LocalDateSerializerSnapshot: LOCAL_DATE,
  LocalDateTimeSerializerSnapshot: LOCAL_DATE_TIME,
  LocalTimeSerializerSnapshot: LOCAL_TIME,
  LongSerializerSnapshot: LONG,
  LongValueSerializerSnapshot: LONG,
  ShortSerializerSnapshot: SHORT,
  ShortValueSerializerSnapshot: SHORT,
  SqlDateSerializerSnapshot: SQL_DATE,
  SqlTimeSerializerSnapshot: SQL_TIME,
  SqlTimestampSerializerSnapshot: SQL_TIMESTAMP,
  StringSerializerSnapshot: STRING,
  StringValueSerializerSnapshot: STRING_VALUE,
  VoidSerializerSnapshot: VOID,
  BooleanPrimitiveArraySerializerSnapshot: BOOLEAN_ARRAY,
  BytePrimitiveArraySerializerSnapshot: BYTES,
  CharPrimitiveArraySerializerSnapshot: CHAR_ARRAY,
  DoublePrimitiveArraySerializerSnapshot: DOUBLE_ARRAY,
  FloatPrimitiveArraySerializerSnapshot: FLOAT_ARRAY,
  IntPrimitiveArraySerializerSnapshot: INT_ARRAY,
  LongPrimitiveArraySerializerSnapshot: LONG_ARRAY,
  ShortPrimitiveArraySerializerSnapshot: SHORT_ARRAY,
  StringArraySerializerSnapshot: STRING_ARRAY,
  StringDataSerializerSnapshot: STRING_DATA,
  Tuple0SerializerSnapshot: TUPLE_0,
  VoidNamespaceSerializerSnapshot: VOID_NAMESPACE,
  GlobalWindowSerializerSnapshot: GLOBAL_WINDOW,
  TimeWindowSerializerSnapshot: TIME_WINDOW,
  CountWindowSerializerSnapshot: COUNT_WINDOW,
  NullSerializerSnapshot: VOID,
};

/** Last part of a class name. */
function simpleName(className: string): string {
  return className.slice(Math.max(className.lastIndexOf('.'), className.lastIndexOf('$')) + 1);
}

/** The decoder of the values that a serializer with this snapshot wrote. Never throws: at worst values are opaque. */
export function serializerOf(snapshot: SerializerSnapshot): ValueSerializer {
  const { className, content } = snapshot;
  switch (content.kind) {
    case 'simple':
      return SIMPLE[simpleName(className)] ?? unknownClass(className);
    case 'composite':
      return compositeOf(snapshot, content.outerVersion, content.outer, content.nested.map(serializerOf));
    case 'enum':
      return enumSerializer(content.enumClass, content.constants);
    case 'pojo':
      return pojoSerializer({
        javaClass: content.pojoClass,
        fields: content.fields.map(({ name, key, value }) => ({
          name: key?.name ?? name,
          declaringClass: key?.declaringClass,
          serializer: value === undefined ? unknownClass(`${content.pojoClass}.${name}`) : serializerOf(value),
        })),
        registered: content.registeredSubclasses.map(subclassOf),
        others: content.otherSubclasses.map(subclassOf),
      });
    case 'kryo':
      return opaqueSerializer({
        type: `Kryo<${content.typeClass}>`,
        javaClass: content.typeClass,
        serializer: 'KryoSerializer',
        classIn: kryoClassName,
      });
    case 'type-class':
      return opaqueSerializer({
        type: `${serializerName(className)}<${content.typeClass}>`,
        javaClass: content.typeClass,
        serializer: serializerName(className),
      });
    case 'avro':
      return avroSerializer(content.recordClass, content.schema);
    case 'row-data':
      return rowDataSerializer(content.fieldTypes.map(parseLogicalType));
    case 'sql-collection':
      return sqlCollectionOf(content.types.map(parseLogicalType), className);
    case 'decimal':
      return decimalDataSerializer(content.precision, content.scale);
    case 'timestamp':
      return timestampDataSerializer(content.precision);
    case 'ttl-aware':
      return serializerOf(content.nested);
    default:
      return unknownClass(className);
  }
}

function sqlCollectionOf([first, second]: readonly SqlType[], className: string): ValueSerializer {
  if (first === undefined) return unknownClass(className);
  if (second === undefined) {
    return sqlCollectionSerializer({ kind: 'array', text: `ARRAY<${first.text}>`, element: first });
  }
  const text = `MAP<${first.text}, ${second.text}>`;
  return sqlCollectionSerializer({ kind: 'map', text, key: first, value: second });
}

function subclassOf({ name, value }: OptionalMapEntry<Uint8Array, SerializerSnapshot>): PojoSubclass {
  return { javaClass: name, serializer: value === undefined ? unknownClass(name) : serializerOf(value) };
}

/** Simple name of the serializer that a snapshot class belongs to. */
function serializerName(className: string): string {
  return simpleName(className).replace(/Snapshot$/, '');
}

/** For a snapshot of a class that is not known: what the class of its values is, it alone can say. */
function unknownClass(className: string): ValueSerializer {
  return opaqueSerializer({ type: className, javaClass: className, serializer: serializerName(className) });
}

/** The least version of `RowSerializerSnapshot` that says whether there are row kinds, and the one where there always are. */
const ROW_KINDS_SAID = 4;
const ROW_KINDS_ALWAYS = 3;

function compositeOf(
  { className }: SerializerSnapshot,
  outerVersion: number,
  outer: Uint8Array,
  nested: readonly ValueSerializer[],
): ValueSerializer {
  const [first, second] = nested;
  if (first === undefined) return emptyCompositeOf(className, outerVersion, outer);
  const flag = (): boolean => outer[0] === 1;
  switch (simpleName(className)) {
    case 'TupleSerializerSnapshot':
      return tupleSerializer(outerText(outer) ?? `Tuple${nested.length}`, nested, 'java');
    case 'ListSerializerSnapshot':
    case 'ArrayListSerializerSnapshot':
    case 'ListViewSerializerSnapshot':
      // A ListView is written as its list.
      if (first.description.kind === 'list' && className.includes('ListView')) return first;
      return elementsSerializer({ kind: 'list', name: 'List', element: first, nulls: 'none' });
    case 'LinkedListSerializerSnapshot': {
      const nulls = outerVersion >= 3 ? flag() : outerVersion === 2;
      return elementsSerializer({ kind: 'list', name: 'List', element: first, nulls: nulls ? 'mask' : 'none' });
    }
    case 'SetSerializerSnapshot':
      return elementsSerializer({ kind: 'set', name: 'Set', element: first, nulls: 'null-flag' });
    case 'GenericArraySerializerSnapshot':
      return elementsSerializer({ kind: 'array', name: 'Array', element: first, nulls: 'present-flag' });
    case 'MapViewSerializerSnapshot':
    case 'ExternalSerializerSnapshot':
      // What stands in the state is what the inner serializer writes.
      return first;
    case 'RawValueDataSerializerSnapshot':
      return rawValueSerializer(first);
    case 'WindowKeySerializerSnapshot':
      return windowKeySerializer(first);
    case 'RowSerializerSnapshot':
      return rowSerializer(nested, outerVersion >= ROW_KINDS_SAID ? flag() : outerVersion === ROW_KINDS_ALWAYS);
    case 'NullableSerializerSnapshot':
      return nullableSerializer(first, outer.length >= 4 ? ByteReader.over(outer).readI32('padding') : 0);
    default:
  }
  if (second === undefined) return unknownClass(className);
  switch (simpleName(className)) {
    case 'MapSerializerSnapshot':
    case 'SortedMapSerializerSnapshot':
      return mapSerializer({ name: 'Map', key: first, value: second, nullableKeys: false });
    case 'NullAwareMapSerializerSnapshot':
      return mapSerializer({ name: 'Map', key: first, value: second, nullableKeys: true });
    case 'JavaEitherSerializerSnapshot':
      return eitherSerializer(first, second);
    case 'TtlSerializerSnapshot':
      return ttlSerializer(first, second);
    case 'TimerSerializerSnapshot':
      return timerSerializer(first, second);
    default:
      return unknownClass(className);
  }
}

/** A row of nothing is the one composite that may have no parts. */
function emptyCompositeOf(className: string, outerVersion: number, outer: Uint8Array): ValueSerializer {
  if (simpleName(className) !== 'RowSerializerSnapshot') return unknownClass(className);
  return rowSerializer([], outerVersion >= ROW_KINDS_SAID ? outer[0] === 1 : outerVersion === ROW_KINDS_ALWAYS);
}

/** The text that is all a composite says of itself; undefined if it is something else. */
function outerText(outer: Uint8Array): string | undefined {
  if (outer.length < 2 || outer.length !== 2 + (((outer[0] as number) << 8) | (outer[1] as number))) return undefined;
  const slice = new Utf8Slice();
  ByteReader.over(outer).readUtf('class', slice);
  return slice.text();
}
