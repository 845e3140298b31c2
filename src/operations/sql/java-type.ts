/** Expressions of Java for the `TypeInformation` of which Flink makes the serializer that wrote values of a type. */
import type { TypeDescription } from '../../format/value/type-description.js';
import { withoutTtl } from './operator-states.js';
import { javaText } from './quote.js';

/** How a job handles values of a type. */
export interface JavaType {
  /** An expression of type `TypeInformation<Object>`, or of type `TypeSerializer<Object>`. */
  readonly type: string;
  readonly isSerializer: boolean;
  /** Makes of an expression for a value one for what is to be printed. */
  readonly shown: (value: string) => string;
  /** Classes of the application that are needed. */
  readonly classes: readonly string[];
}

/** Why there is no such expression. */
export interface NoJavaType {
  readonly reason: string;
}

/** True for a type that has an expression. */
export function isJavaType(found: JavaType | NoJavaType): found is JavaType {
  return 'type' in found;
}

const BASIC: Readonly<Record<string, string>> = {
  Boolean: 'Types.BOOLEAN',
  Byte: 'Types.BYTE',
  Short: 'Types.SHORT',
  Integer: 'Types.INT',
  Long: 'Types.LONG',
  Float: 'Types.FLOAT',
  Double: 'Types.DOUBLE',
  Character: 'Types.CHAR',
  String: 'Types.STRING',
  Void: 'Types.VOID',
  BigInteger: 'Types.BIG_INT',
  BigDecimal: 'Types.BIG_DEC',
  Instant: 'Types.INSTANT',
  LocalDate: 'Types.LOCAL_DATE',
  LocalTime: 'Types.LOCAL_TIME',
  LocalDateTime: 'Types.LOCAL_DATE_TIME',
  'java.util.Date': 'BasicTypeInfo.DATE_TYPE_INFO',
  'java.sql.Date': 'Types.SQL_DATE',
  'java.sql.Time': 'Types.SQL_TIME',
  'java.sql.Timestamp': 'Types.SQL_TIMESTAMP',
  'String[]': 'BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO',
  'boolean[]': 'PrimitiveArrayTypeInfo.BOOLEAN_PRIMITIVE_ARRAY_TYPE_INFO',
  'byte[]': 'PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO',
  'char[]': 'PrimitiveArrayTypeInfo.CHAR_PRIMITIVE_ARRAY_TYPE_INFO',
  'short[]': 'PrimitiveArrayTypeInfo.SHORT_PRIMITIVE_ARRAY_TYPE_INFO',
  'int[]': 'PrimitiveArrayTypeInfo.INT_PRIMITIVE_ARRAY_TYPE_INFO',
  'long[]': 'PrimitiveArrayTypeInfo.LONG_PRIMITIVE_ARRAY_TYPE_INFO',
  'float[]': 'PrimitiveArrayTypeInfo.FLOAT_PRIMITIVE_ARRAY_TYPE_INFO',
  'double[]': 'PrimitiveArrayTypeInfo.DOUBLE_PRIMITIVE_ARRAY_TYPE_INFO',
};

/** Expressions of type `TypeSerializer<...>` for the namespaces that have names of their own. */
export const WINDOW_SERIALIZERS: Readonly<Record<string, string>> = {
  TimeWindow: 'new TimeWindow.Serializer()',
  GlobalWindow: 'new GlobalWindow.Serializer()',
};

const DEEPEST = 30;

/** The expression for a type. A `Ttl` is looked through: the descriptor of its state adds the time. */
export function javaType(type: TypeDescription): JavaType | NoJavaType {
  const windows = windowsSerializer(type);
  if (windows !== undefined) return { type: windows, isSerializer: true, shown: unchanged, classes: [] };
  const found = typeOf(withoutTtl(type), 0);
  if (!isJavaType(found)) return found;
  return { ...found, type: `any(${found.type})` };
}

const unchanged = (value: string): string => value;

/** Of windows, and of tuples of them, as the sets of merged windows are: for them there is no TypeInformation. */
function windowsSerializer(type: TypeDescription): string | undefined {
  if (type.kind === 'basic') {
    const serializer = WINDOW_SERIALIZERS[type.name];
    return serializer && `anySerializer(${serializer})`;
  }
  if (type.kind !== 'tuple' || type.parts.length === 0) return undefined;
  const parts = type.parts.map((part) => (part.kind === 'basic' ? WINDOW_SERIALIZERS[part.name] : undefined));
  if (parts.includes(undefined)) return undefined;
  const tuple = `org.apache.flink.api.java.tuple.Tuple${parts.length}.class`;
  return `anySerializer(new TupleSerializer<>(${tuple}, new TypeSerializer<?>[] {${parts.join(', ')}}))`;
}

function typeOf(type: TypeDescription, depth: number): JavaType | NoJavaType {
  if (depth > DEEPEST) return { reason: `types within types, more than ${DEEPEST} deep` };
  const nested = (parts: readonly TypeDescription[], write: (expressions: readonly string[]) => string) =>
    composite(parts, depth, write);
  switch (type.kind) {
    case 'basic': {
      const expression = BASIC[type.name];
      return expression ? plain(expression) : { reason: `no TypeInformation is known for ${type.name}` };
    }
    case 'enum':
    case 'pojo':
      return ofClass(`TypeInformation.of(classOf(${javaText(type.javaClass)}))`, [
        type.javaClass,
        ...(type.kind === 'pojo' ? type.subclasses.map(({ javaClass }) => javaClass) : []),
      ]);
    case 'tuple': {
      if (!/^(org\.apache\.flink\.api\.java\.tuple\.)?Tuple\d+$/.test(type.javaClass)) {
        return ofClass(`TypeInformation.of(classOf(${javaText(type.javaClass)}))`, [type.javaClass]);
      }
      if (type.parts.length === 0) return { reason: 'no TypeInformation is known for Tuple0' };
      return nested(type.parts, (parts) => `Types.TUPLE(${parts.join(', ')})`);
    }
    case 'row':
      return nested(type.parts, (parts) => `Types.ROW(${parts.join(', ')})`);
    case 'list':
      return nested([type.element], ([element = '']) => `Types.LIST(any(${element}))`);
    case 'set':
      return nested([type.element], ([element = '']) => `Types.SET(any(${element}))`);
    case 'array':
      return nested([type.element], ([element = '']) => `Types.OBJECT_ARRAY(any(${element}))`);
    case 'map':
      return nested([type.key, type.value], ([key = '', value = '']) => `Types.MAP(any(${key}), any(${value}))`);
    case 'avro':
      return avroType(type);
    case 'row-data': {
      if (type.fields.some(({ sqlType }) => RAW.test(sqlType))) return { reason: RAW_REASON };
      const fields = type.fields.map(({ sqlType }) => javaText(sqlType)).join(', ');
      return sqlTypeOf(`rowType(${fields})`);
    }
    case 'sql':
      if (RAW.test(type.sqlType)) return { reason: RAW_REASON };
      return sqlTypeOf(`sqlType(${javaText(type.sqlType)})`);
    case 'composite':
      if (type.name === 'Either') {
        return nested(type.parts, ([left = '', right = '']) => `Types.EITHER(any(${left}), any(${right}))`);
      }
      return { reason: `no TypeInformation is known for ${type.name}` };
    case 'opaque':
      if (type.serializer !== 'KryoSerializer')
        return { reason: `only ${type.serializer} knows what is in ${type.javaClass}` };
      return ofClass(
        `Types.GENERIC(classOf(${javaText(type.javaClass)}))`,
        type.javaClass.startsWith('java.') ? [] : [type.javaClass],
      );
  }
}

/** Its snapshot is not told in full, and nobody could type it. */
const RAW = /\bRAW\(/;
const RAW_REASON = 'SQL has no spelling of a RAW type without its serializer';

const plain = (type: string): JavaType => ({ type, isSerializer: false, shown: unchanged, classes: [] });
const ofClass = (type: string, classes: readonly string[]): JavaType => ({
  type,
  isSerializer: false,
  shown: unchanged,
  classes,
});

/** Values of SQL are turned into those that programs see. */
function sqlTypeOf(logicalType: string): JavaType {
  return {
    type: `InternalTypeInfo.of(${logicalType})`,
    isSerializer: false,
    shown: (value) => `external(${value}, ${logicalType})`,
    classes: [],
  };
}

function avroType({ javaClass, schema }: { javaClass: string; schema: string | null }): JavaType | NoJavaType {
  if (!javaClass.startsWith('org.apache.avro.')) {
    return ofClass(`new AvroTypeInfo<>(classOf(${javaText(javaClass)}).asSubclass(SpecificRecordBase.class))`, [
      javaClass,
    ]);
  }
  if (schema === null) return { reason: 'the snapshot of its Avro serializer has no schema' };
  return plain(`new GenericRecordAvroTypeInfo(new Schema.Parser().parse(${javaText(schema)}))`);
}

function composite(
  parts: readonly TypeDescription[],
  depth: number,
  write: (expressions: readonly string[]) => string,
): JavaType | NoJavaType {
  const expressions: string[] = [];
  const classes: string[] = [];
  for (const part of parts) {
    if (part.kind === 'row-data' || part.kind === 'sql')
      return { reason: 'values of SQL within others are not taken apart' };
    const found = typeOf(part, depth + 1);
    if (!isJavaType(found)) return found;
    expressions.push(found.type);
    classes.push(...found.classes);
  }
  return { type: write(expressions), isSerializer: false, shown: unchanged, classes };
}
