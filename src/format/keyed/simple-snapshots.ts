/** The snapshots without content: Flink's classes that extend `SimpleTypeSerializerSnapshot`, of all releases known. */

/** By package. */
const SIMPLE_SNAPSHOTS: Readonly<Record<string, readonly string[]>> = {
  'org.apache.flink.api.common.typeutils.base': [
    'BigDecSerializer$BigDecSerializerSnapshot',
    'BigIntSerializer$BigIntSerializerSnapshot',
    'BitmapSerializer$BitmapSerializerSnapshot',
    'BooleanSerializer$BooleanSerializerSnapshot',
    'BooleanValueSerializer$BooleanValueSerializerSnapshot',
    'ByteSerializer$ByteSerializerSnapshot',
    'ByteValueSerializer$ByteValueSerializerSnapshot',
    'CharSerializer$CharSerializerSnapshot',
    'CharValueSerializer$CharValueSerializerSnapshot',
    'DateSerializer$DateSerializerSnapshot',
    'DoubleSerializer$DoubleSerializerSnapshot',
    'DoubleValueSerializer$DoubleValueSerializerSnapshot',
    'FloatSerializer$FloatSerializerSnapshot',
    'FloatValueSerializer$FloatValueSerializerSnapshot',
    'InstantSerializer$InstantSerializerSnapshot',
    'IntSerializer$IntSerializerSnapshot',
    'IntValueSerializer$IntValueSerializerSnapshot',
    'LocalDateSerializer$LocalDateSerializerSnapshot',
    'LocalDateTimeSerializer$LocalDateTimeSerializerSnapshot',
    'LocalTimeSerializer$LocalTimeSerializerSnapshot',
    'LongSerializer$LongSerializerSnapshot',
    'LongValueSerializer$LongValueSerializerSnapshot',
    'NullValueSerializer$NullValueSerializerSnapshot',
    'ShortSerializer$ShortSerializerSnapshot',
    'ShortValueSerializer$ShortValueSerializerSnapshot',
    'SqlDateSerializer$SqlDateSerializerSnapshot',
    'SqlTimeSerializer$SqlTimeSerializerSnapshot',
    'SqlTimestampSerializer$SqlTimestampSerializerSnapshot',
    'StringSerializer$StringSerializerSnapshot',
    'StringValueSerializer$StringValueSerializerSnapshot',
    'VariantSerializer$VariantSerializerSnapshot',
    'VoidSerializer$VoidSerializerSnapshot',
  ],
  'org.apache.flink.api.common.typeutils.base.array': [
    'BooleanPrimitiveArraySerializer$BooleanPrimitiveArraySerializerSnapshot',
    'BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot',
    'CharPrimitiveArraySerializer$CharPrimitiveArraySerializerSnapshot',
    'DoublePrimitiveArraySerializer$DoublePrimitiveArraySerializerSnapshot',
    'FloatPrimitiveArraySerializer$FloatPrimitiveArraySerializerSnapshot',
    'IntPrimitiveArraySerializer$IntPrimitiveArraySerializerSnapshot',
    'LongPrimitiveArraySerializer$LongPrimitiveArraySerializerSnapshot',
    'ShortPrimitiveArraySerializer$ShortPrimitiveArraySerializerSnapshot',
    'StringArraySerializer$StringArraySerializerSnapshot',
  ],
  'org.apache.flink.api.java.typeutils.runtime': ['Tuple0SerializerSnapshot'],
  'org.apache.flink.cep.nfa': ['DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot'],
  'org.apache.flink.cep.nfa.sharedbuffer': ['EventId$EventIdSerializer$EventIdSerializerSnapshot'],
  'org.apache.flink.runtime.state': [
    'JavaSerializer$JavaSerializerSnapshot',
    'VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot',
  ],
  'org.apache.flink.streaming.api.windowing.windows': [
    'GlobalWindow$Serializer$GlobalWindowSerializerSnapshot',
    'TimeWindow$Serializer$TimeWindowSerializerSnapshot',
  ],
  'org.apache.flink.table.dataview': ['NullSerializer$NullSerializerSnapshot'],
  'org.apache.flink.table.runtime.operators.sink': ['SortedLongSerializer$SortedLongSerializerSnapshot'],
  'org.apache.flink.table.runtime.operators.window': [
    'CountWindow$Serializer$CountWindowSerializerSnapshot',
    'GlobalWindow$Serializer$GlobalWindowSerializerSnapshot',
    'TimeWindow$Serializer$TimeWindowSerializerSnapshot',
  ],
  'org.apache.flink.table.runtime.typeutils': ['StringDataSerializer$StringDataSerializerSnapshot'],
};

const names: ReadonlySet<string> = new Set(
  Object.entries(SIMPLE_SNAPSHOTS).flatMap(([path, classes]) => classes.map((name) => `${path}.${name}`)),
);

/** True for the class of a snapshot that has no content in version 3, and one name in version 2. */
export function isSimpleSnapshot(className: string): boolean {
  return names.has(className);
}
