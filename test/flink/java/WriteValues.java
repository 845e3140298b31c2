import java.io.Serializable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshotSerializationUtil;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.SetSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.tuple.Tuple0;
import org.apache.flink.api.java.tuple.Tuple1;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.typeutils.EitherTypeInfo;
import org.apache.flink.api.java.typeutils.runtime.NullableSerializer;
import org.apache.flink.api.java.typeutils.runtime.RowSerializer;
import org.apache.flink.api.java.typeutils.runtime.Tuple0Serializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.runtime.state.ArrayListSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RawValueData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.dataview.NullAwareMapSerializer;
import org.apache.flink.table.dataview.NullSerializer;
import org.apache.flink.table.runtime.operators.window.CountWindow;
import org.apache.flink.table.runtime.typeutils.ArrayDataSerializer;
import org.apache.flink.table.runtime.typeutils.DecimalDataSerializer;
import org.apache.flink.table.runtime.typeutils.LinkedListSerializer;
import org.apache.flink.table.runtime.typeutils.MapDataSerializer;
import org.apache.flink.table.runtime.typeutils.RawValueDataSerializer;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.runtime.typeutils.StringDataSerializer;
import org.apache.flink.table.runtime.typeutils.TimestampDataSerializer;
import org.apache.flink.table.types.logical.*;
import org.apache.flink.types.Either;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * Prints, for each of Flink's serializers, a line of JSON: its snapshot, what it says its length is, and values at their limits
 * with the bytes that it writes, a plain JSON form, and Java's hash code. The argument is a directory for nothing: none is used.
 */
public final class WriteValues {

    private static final SerializerConfigImpl CONFIG = new SerializerConfigImpl();

    public enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "another text";
            }
        },
        BLUE
    }

    public static class Point implements Serializable {
        public int x;
        public Integer y;

        public Point() {}

        Point(int x, Integer y) {
            this.x = x;
            this.y = y;
        }
    }

    public static class Shape implements Serializable {
        public String name;
        public Color color;
        public Point center;
        public Generic<String> generic;
        public long[] longs;
        public List<String> texts;

        public Shape() {}
    }

    public static class Generic<T> implements Serializable {
        public T value;

        public Generic() {}
    }

    public static class Circle extends Shape {
        public double radius;

        public Circle() {}
    }

    public static class Square extends Shape {
        public float side;

        public Square() {}
    }

    private interface Serializers {
        void add(String name, TypeSerializer<?> serializer, Object... values) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        CONFIG.registerPojoType(Square.class);
        Serializers out = WriteValues::print;
        basic(out);
        collections(out);
        composites(out);
        pojos(out);
        sql(out);
        avro(out);
    }

    private static <T> TypeSerializer<T> of(TypeInformation<T> type) {
        return type.createSerializer(CONFIG);
    }

    private static final String LONG_TEXT = "0123456789".repeat(7000);

    private static void basic(Serializers out) throws Exception {
        out.add("boolean", of(Types.BOOLEAN), true, false);
        out.add("byte", of(Types.BYTE), (byte) 0, (byte) -1, Byte.MIN_VALUE, Byte.MAX_VALUE);
        out.add("short", of(Types.SHORT), (short) 0, (short) -1, Short.MIN_VALUE, Short.MAX_VALUE);
        out.add("int", of(Types.INT), 0, -1, 1, Integer.MIN_VALUE, Integer.MAX_VALUE);
        out.add(
                "long", of(Types.LONG), 0L, -1L, 1L << 32, (1L << 53) - 1, 1L << 53, -(1L << 53), 1 - (1L << 53),
                Long.MIN_VALUE, Long.MAX_VALUE);
        out.add(
                "float", of(Types.FLOAT), 0f, -0f, 0.1f, -1f, 16777217f, 1e10f, 3.3333333f, Float.MAX_VALUE,
                Float.MIN_VALUE, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
                Float.intBitsToFloat(0x7fc12345));
        out.add(
                "double", of(Types.DOUBLE), 0d, -0d, 0.1, -1d, 1e300, Double.MAX_VALUE, Double.MIN_VALUE, Double.NaN,
                Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.longBitsToDouble(0x7ff8000012345678L));
        out.add("char", of(Types.CHAR), 'a', '\0', '\u20ac', '\ud83d', '\uffff');
        out.add(
                "string", of(Types.STRING), "", "a", "key-17", "\u0000\u007f\u0080\u3fff\u4000\uffff", "\u20ac \ud83d\ude00",
                "\ud83d", "\ude00\ud83d", "x".repeat(126), "x".repeat(127), "x".repeat(16383), "\u00e9".repeat(300),
                LONG_TEXT, null);
        out.add("void", VoidSerializer.INSTANCE, (Object) null);
        out.add("void-namespace", VoidNamespaceSerializer.INSTANCE, VoidNamespace.INSTANCE);
        out.add("null", NullSerializer.INSTANCE, (Object) null);
        out.add(
                "big-integer", of(Types.BIG_INT), BigInteger.ZERO, BigInteger.ONE, BigInteger.TEN, BigInteger.TWO,
                BigInteger.ONE.negate(), BigInteger.valueOf(127), BigInteger.valueOf(128), BigInteger.valueOf(-128),
                BigInteger.valueOf(-129), BigInteger.valueOf(Long.MIN_VALUE), BigInteger.TWO.pow(64),
                BigInteger.TWO.pow(3000).negate(), null);
        out.add(
                "big-decimal", of(Types.BIG_DEC), BigDecimal.ZERO, BigDecimal.ONE, BigDecimal.TEN, new BigDecimal("0.00"),
                new BigDecimal("-1.5"), new BigDecimal("1E+3"), new BigDecimal("1E-7"), new BigDecimal("0.000001"),
                new BigDecimal("0.0000001"), new BigDecimal("-12345678901234567890.123456789"), new BigDecimal("123E-10"),
                new BigDecimal("12E5"), BigDecimal.valueOf(Long.MIN_VALUE), BigDecimal.valueOf(Long.MAX_VALUE, 3), null);
        out.add(
                "date", of(TypeInformation.of(Date.class)), new Date(0), new Date(-1), new Date(1_700_000_000_123L),
                new Date(253402300800000L), new Date(-99999999999999L), new Date(Long.MAX_VALUE), new Date(Long.MIN_VALUE + 1),
                null);
        out.add("sql-date", of(Types.SQL_DATE), new java.sql.Date(0), new java.sql.Date(-86400000), null);
        out.add("sql-time", of(Types.SQL_TIME), new java.sql.Time(0), new java.sql.Time(3599999), null);
        out.add(
                "sql-timestamp", of(Types.SQL_TIMESTAMP), new Timestamp(0), new Timestamp(1_700_000_000_123L),
                new Timestamp(-1), null);
        out.add(
                "instant", of(Types.INSTANT), Instant.EPOCH, Instant.ofEpochSecond(-1, 1), Instant.ofEpochSecond(60, 120_000),
                Instant.parse("2023-11-14T22:13:20.5Z"), Instant.parse("9999-12-31T23:59:59.999999999Z"),
                Instant.parse("+10000-01-01T00:00:00Z"), Instant.parse("-0001-02-29T12:00:00Z".replace("02-29", "02-28")),
                Instant.MAX, Instant.MIN, null);
        out.add(
                "local-date", of(Types.LOCAL_DATE), LocalDate.of(1970, 1, 1), LocalDate.of(2024, 2, 29), LocalDate.of(0, 1, 1),
                LocalDate.of(-44, 3, 15), LocalDate.of(12345, 6, 7), LocalDate.MAX, LocalDate.MIN, null);
        out.add(
                "local-time", of(Types.LOCAL_TIME), LocalTime.MIDNIGHT, LocalTime.of(12, 30), LocalTime.of(1, 2, 3),
                LocalTime.of(1, 2, 3, 4_000_000), LocalTime.of(1, 2, 0, 5000), LocalTime.MAX, null);
        out.add(
                "local-date-time", of(Types.LOCAL_DATE_TIME), LocalDateTime.of(1970, 1, 1, 0, 0),
                LocalDateTime.of(2024, 2, 29, 23, 59, 58, 7_000_000), LocalDateTime.MAX, LocalDateTime.MIN, null);
        out.add("enum", of(TypeInformation.of(Color.class)), Color.RED, Color.GREEN, Color.BLUE);
        out.add("time-window", new TimeWindow.Serializer(), new TimeWindow(0, 1000), new TimeWindow(Long.MIN_VALUE, Long.MAX_VALUE));
        out.add("global-window", new GlobalWindow.Serializer(), GlobalWindow.get());
        out.add("count-window", new CountWindow.Serializer(), new CountWindow(0), new CountWindow(Long.MAX_VALUE));
        out.add(
                "sql-time-window", new org.apache.flink.table.runtime.operators.window.TimeWindow.Serializer(),
                new org.apache.flink.table.runtime.operators.window.TimeWindow(-5, 5));
    }

    private static void collections(Serializers out) throws Exception {
        byte[] large = new byte[70_000];
        Arrays.fill(large, (byte) 0xab);
        out.add("bytes", of(Types.PRIMITIVE_ARRAY(Types.BYTE)), new byte[0], new byte[] {0, -1, 127, -128}, large);
        out.add("booleans", of(Types.PRIMITIVE_ARRAY(Types.BOOLEAN)), new boolean[0], new boolean[] {true, false});
        out.add("chars", of(Types.PRIMITIVE_ARRAY(Types.CHAR)), new char[] {'a', '\ud800'});
        out.add("shorts", of(Types.PRIMITIVE_ARRAY(Types.SHORT)), new short[] {1, Short.MIN_VALUE});
        out.add("ints", of(Types.PRIMITIVE_ARRAY(Types.INT)), new int[0], new int[] {1, Integer.MIN_VALUE});
        out.add("longs", of(Types.PRIMITIVE_ARRAY(Types.LONG)), new long[] {1, Long.MIN_VALUE});
        out.add("floats", of(Types.PRIMITIVE_ARRAY(Types.FLOAT)), new float[] {0.1f, Float.NaN});
        out.add("doubles", of(Types.PRIMITIVE_ARRAY(Types.DOUBLE)), new double[] {0.1, -0.0, Double.NaN});
        out.add("strings", of(BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO), new String[0], new String[] {"a", null, ""});
        out.add("boxed-longs", of(Types.OBJECT_ARRAY(Types.LONG)), new Long[0], new Long[] {1L, null, -1L});
        out.add("boxed-ints", of(BasicArrayTypeInfo.INT_ARRAY_TYPE_INFO), (Object) new Integer[] {1, null});
        out.add("list", of(Types.LIST(Types.STRING)), List.of(), List.of("a", "", "\ud83d\ude00"));
        out.add("list-of-longs", new ListSerializer<>(LongSerializer.INSTANCE), List.of(1L, -1L));
        out.add("list-of-lists", of(Types.LIST(Types.LIST(Types.INT))), List.of(List.of(1, 2), List.of()));
        out.add("array-list", new ArrayListSerializer<>(StringSerializer.INSTANCE), new ArrayList<>(List.of("a", "b")));
        out.add(
                "linked-list", new LinkedListSerializer<>(LongSerializer.INSTANCE),
                new LinkedList<>(), new LinkedList<>(Arrays.asList(1L, null, 3L, null, null, 6L, 7L, 8L, null)));
        out.add("set", new SetSerializer<>(StringSerializer.INSTANCE), new LinkedHashSet<>(Arrays.asList("b", null, "a")));
        Map<String, Long> map = new LinkedHashMap<>();
        map.put("b", 1L);
        map.put("a", null);
        out.add("map", new MapSerializer<>(StringSerializer.INSTANCE, LongSerializer.INSTANCE), Map.of(), map);
        Map<String, Long> nullKeys = new LinkedHashMap<>(map);
        nullKeys.put(null, 7L);
        out.add(
                "null-aware-map", new NullAwareMapSerializer<>(StringSerializer.INSTANCE, LongSerializer.INSTANCE), Map.of(),
                nullKeys);
    }

    private static void composites(Serializers out) throws Exception {
        out.add("tuple-0", Tuple0Serializer.INSTANCE, Tuple0.INSTANCE);
        out.add("tuple-1", of(Types.TUPLE(Types.LONG)), Tuple1.of(-1L));
        out.add("tuple-2", of(Types.TUPLE(Types.STRING, Types.INT)), Tuple2.of("a", 1), Tuple2.of("", -1));
        out.add("tuple-fixed", of(Types.TUPLE(Types.LONG, Types.BOOLEAN, Types.SHORT)), Tuple3.of(1L, true, (short) 3));
        out.add(
                "tuple-nested", of(Types.TUPLE(Types.TUPLE(Types.DOUBLE, Types.STRING), Types.INSTANT)),
                Tuple2.of(Tuple2.of(-0.0, "x"), Instant.EPOCH));
        Tuple large = Tuple.newInstance(25);
        TypeInformation<?>[] types = new TypeInformation<?>[25];
        for (int i = 0; i < 25; i++) {
            large.setField(i, i);
            types[i] = Types.INT;
        }
        out.add("tuple-25", of(Types.TUPLE(types)), large);
        out.add(
                "either", of(new EitherTypeInfo<>(Types.STRING, Types.LONG)), Either.Left("left"), Either.Right(7L));
        out.add("nullable", NullableSerializer.wrap(IntSerializer.INSTANCE, false), 5, null);
        out.add("nullable-padded", NullableSerializer.wrap(LongSerializer.INSTANCE, true), 5L, null);
        Row row = Row.ofKind(RowKind.DELETE, 1L, null, "text", Row.of(5, null));
        Row other = Row.ofKind(RowKind.UPDATE_AFTER, null, null, null, null);
        out.add(
                "row", of(Types.ROW(Types.LONG, Types.INT, Types.STRING, Types.ROW(Types.INT, Types.STRING))), row, other,
                Row.ofKind(RowKind.UPDATE_BEFORE, Long.MAX_VALUE, 1, "", Row.of(null, "a")));
        TypeSerializer<?>[] nine = new TypeSerializer<?>[9];
        Arrays.fill(nine, IntSerializer.INSTANCE);
        out.add("row-without-kind", new RowSerializer(nine, null, false), Row.of(1, null, 3, 4, 5, 6, 7, 8, null));
        out.add("row-of-nothing", new RowSerializer(new TypeSerializer<?>[0], null, true), Row.ofKind(RowKind.DELETE));
        out.add(
                "timer", new TimerSerializer<>(StringSerializer.INSTANCE, new TimeWindow.Serializer()),
                new TimerHeapInternalTimer<>(0, "key", new TimeWindow(0, 10)),
                new TimerHeapInternalTimer<>(Long.MIN_VALUE, "", new TimeWindow(-1, 1)),
                new TimerHeapInternalTimer<>(Long.MAX_VALUE, "k", new TimeWindow(-1, 1)));
        out.add(
                "timer-fixed", new TimerSerializer<>(LongSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE),
                new TimerHeapInternalTimer<>(-1, 7L, VoidNamespace.INSTANCE));
    }

    private static <T extends Shape> T shape(T shape, String name) {
        shape.name = name;
        shape.color = Color.GREEN;
        shape.center = new Point(Integer.MIN_VALUE, null);
        shape.generic = new Generic<>();
        shape.generic.value = "inside";
        shape.longs = new long[] {Long.MAX_VALUE, 0};
        shape.texts = List.of("a", "");
        return shape;
    }

    private static void pojos(Serializers out) throws Exception {
        Circle circle = shape(new Circle(), "circle");
        circle.radius = Double.POSITIVE_INFINITY;
        Square square = shape(new Square(), "\ud83d\ude00");
        square.side = 0.1f;
        TypeSerializer<Shape> serializer = of(TypeInformation.of(Shape.class));
        // A subclass that is not registered is in the snapshot once a value of it was written.
        serializer.serialize(circle, new DataOutputSerializer(64));
        out.add("pojo", serializer, shape(new Shape(), "shape"), new Shape(), circle, square, null);
        out.add("pojo-point", of(TypeInformation.of(Point.class)), new Point(1, 2), new Point(-1, null), null);
    }

    private static void sql(Serializers out) throws Exception {
        sqlScalars(out);
        RowType nested =
                RowType.of(new LogicalType[] {new IntType(false), new VarCharType(VarCharType.MAX_LENGTH)}, new String[] {"a", "b`c"});
        GenericRowData inner = GenericRowData.ofKind(RowKind.UPDATE_AFTER, 5, StringData.fromString("inside, more than seven"));
        LogicalType ints = new ArrayType(new IntType());
        LogicalType map = new MapType(new VarCharType(VarCharType.MAX_LENGTH), new DoubleType());
        RowDataSerializer row =
                new RowDataSerializer(nested, ints, new ArrayType(new VarCharType(10)), map, new MultisetType(new BigIntType()));
        Map<Object, Object> entry = Map.of(StringData.fromString("a longer key"), 0.5);
        out.add(
                "sql-nested", row,
                GenericRowData.of(
                        inner,
                        new GenericArrayData(new Object[] {1, null, -1}),
                        new GenericArrayData(new Object[] {StringData.fromString("short"), StringData.fromString("long enough"), null}),
                        new GenericMapData(entry),
                        new GenericMapData(Map.of(7L, 2))),
                new GenericRowData(5));
        out.add(
                "sql-nested-decimals",
                new RowDataSerializer(
                        new ArrayType(new DecimalType(30, 3)), new ArrayType(new TimestampType(9)), new ArrayType(nested),
                        new ArrayType(ints), new ArrayType(new BooleanType()), new ArrayType(new SmallIntType())),
                GenericRowData.of(
                        new GenericArrayData(
                                new Object[] {DecimalData.fromBigDecimal(new BigDecimal("-123456789012345678901234.5"), 30, 3), null}),
                        new GenericArrayData(new Object[] {TimestampData.fromEpochMillis(-1, 999_999), null}),
                        new GenericArrayData(new Object[] {inner, null}),
                        new GenericArrayData(new Object[] {new GenericArrayData(new int[] {1, 2})}),
                        new GenericArrayData(new boolean[] {true, false, true}),
                        new GenericArrayData(new short[] {-1, 300})));
        LogicalType[] many = new LogicalType[70];
        GenericRowData manyValues = new GenericRowData(70);
        for (int i = 0; i < 70; i++) {
            many[i] = new TinyIntType();
            manyValues.setField(i, i % 3 == 0 ? null : (byte) i);
        }
        out.add("sql-70-fields", new RowDataSerializer(many), manyValues);
        out.add("sql-no-fields", new RowDataSerializer(), new GenericRowData(0));
        RawType<String> raw = new RawType<>(String.class, StringSerializer.INSTANCE);
        out.add("sql-raw", new RowDataSerializer(raw), GenericRowData.of(RawValueData.fromObject("raw")));
        out.add("raw-value", new RawValueDataSerializer<>(StringSerializer.INSTANCE), RawValueData.fromObject("raw"));
        out.add(
                "string-data", StringDataSerializer.INSTANCE, StringData.fromString(""), StringData.fromString("\u20ac\ud83d\ude00"));
        out.add(
                "decimal-data", new DecimalDataSerializer(18, 2),
                DecimalData.fromBigDecimal(new BigDecimal("-0.05"), 18, 2));
        out.add(
                "decimal-data-large", new DecimalDataSerializer(38, 10),
                DecimalData.fromBigDecimal(new BigDecimal("1234567890123456789012345678.0123456789"), 38, 10));
        out.add("timestamp-data", new TimestampDataSerializer(3), TimestampData.fromEpochMillis(-1));
        out.add("timestamp-data-nanos", new TimestampDataSerializer(9), TimestampData.fromEpochMillis(1_700_000_000_123L, 456_789));
        out.add("array-data", new ArrayDataSerializer(new BigIntType()), new GenericArrayData(new Object[] {1L, null, Long.MIN_VALUE}));
        out.add("map-data", new MapDataSerializer(new IntType(), nested), new GenericMapData(Map.of(1, inner)));
        StructuredType structured =
                StructuredType.newBuilder(Point.class)
                        .attributes(
                                List.of(
                                        new StructuredType.StructuredAttribute("x", new IntType(false)),
                                        new StructuredType.StructuredAttribute("y", new IntType())))
                        .build();
        out.add("sql-structured", new RowDataSerializer(structured), GenericRowData.of(GenericRowData.of(1, null)));
    }

    private static void sqlScalars(Serializers out) throws Exception {
        RowDataSerializer numbers =
                new RowDataSerializer(
                        new BooleanType(false), new TinyIntType(), new SmallIntType(), new IntType(), new BigIntType(),
                        new FloatType(), new DoubleType(), new DecimalType(10, 2), new DecimalType(38, 10));
        out.add(
                "sql-numbers", numbers,
                GenericRowData.of(
                        true, (byte) -1, (short) -2, Integer.MIN_VALUE, Long.MAX_VALUE, 0.1f, Double.NaN,
                        DecimalData.fromBigDecimal(new BigDecimal("-1.50"), 10, 2),
                        DecimalData.fromBigDecimal(new BigDecimal("12345678901234567890.0000000001"), 38, 10)),
                GenericRowData.ofKind(
                        RowKind.DELETE, false, (byte) 0, (short) 0, 0, 0L, -0f, -0d,
                        DecimalData.fromBigDecimal(BigDecimal.ZERO, 10, 2), DecimalData.fromBigDecimal(new BigDecimal("-1"), 38, 10)),
                new GenericRowData(9));
        RowDataSerializer texts =
                new RowDataSerializer(
                        new CharType(3), new VarCharType(20), new VarCharType(VarCharType.MAX_LENGTH), new BinaryType(2),
                        new VarBinaryType(VarBinaryType.MAX_LENGTH), new VarBinaryType(5));
        out.add(
                "sql-texts", texts,
                GenericRowData.of(
                        StringData.fromString("abc"), StringData.fromString("1234567"), StringData.fromString("12345678"),
                        new byte[] {0, -1}, new byte[20], new byte[0]),
                GenericRowData.of(
                        StringData.fromString(""), StringData.fromString("\ud83d\ude00"), StringData.fromString(LONG_TEXT), null, null,
                        null));
        RowDataSerializer times =
                new RowDataSerializer(
                        new DateType(), new TimeType(3), new TimestampType(3), new TimestampType(6), new LocalZonedTimestampType(3),
                        new LocalZonedTimestampType(9), new YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.YEAR_TO_MONTH),
                        new DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.DAY_TO_SECOND));
        out.add(
                "sql-times", times,
                GenericRowData.of(
                        -1, 86_399_999, TimestampData.fromEpochMillis(0), TimestampData.fromEpochMillis(-1, 999_000),
                        TimestampData.fromEpochMillis(1_700_000_000_123L), TimestampData.fromEpochMillis(1_700_000_000_000L, 1),
                        14, -1L),
                new GenericRowData(8));
    }

    private static void avro(Serializers out) throws Exception {
        Schema schema =
                new Schema.Parser()
                        .parse(
                                "{\"type\":\"record\",\"name\":\"Node\",\"namespace\":\"lab\",\"fields\":["
                                        + "{\"name\":\"id\",\"type\":\"int\"},"
                                        + "{\"name\":\"big\",\"type\":\"long\"},"
                                        + "{\"name\":\"ratio\",\"type\":\"float\"},"
                                        + "{\"name\":\"exact\",\"type\":\"double\"},"
                                        + "{\"name\":\"flag\",\"type\":\"boolean\"},"
                                        + "{\"name\":\"nothing\",\"type\":\"null\"},"
                                        + "{\"name\":\"choice\",\"type\":[\"null\",\"string\",\"long\",\"bytes\"]},"
                                        + "{\"name\":\"hash\",\"type\":{\"type\":\"fixed\",\"name\":\"Hash\",\"size\":3}},"
                                        + "{\"name\":\"unit\",\"type\":{\"type\":\"enum\",\"name\":\"Unit\",\"symbols\":[\"C\",\"F\"]}},"
                                        + "{\"name\":\"when\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}},"
                                        + "{\"name\":\"numbers\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},"
                                        + "{\"name\":\"labels\",\"type\":{\"type\":\"map\",\"values\":[\"null\",\"string\"]}},"
                                        + "{\"name\":\"next\",\"type\":[\"null\",\"Node\"]}]}");
        GenericData.Record last = node(schema, 0, null);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            numbers.add(i);
        }
        last.put("numbers", numbers);
        last.put("choice", "\u20ac");
        GenericData.Record first = node(schema, Integer.MIN_VALUE, last);
        first.put("choice", Long.MIN_VALUE);
        GenericData.Record bytes = node(schema, 1, null);
        bytes.put("choice", ByteBuffer.wrap(new byte[] {1, 2}));
        out.add("avro", of(new GenericRecordAvroTypeInfo(schema)), last, first, bytes);
    }

    private static GenericData.Record node(Schema schema, int id, GenericRecord next) {
        GenericData.Record record = new GenericData.Record(schema);
        record.put("id", id);
        record.put("big", Long.MAX_VALUE - id);
        record.put("ratio", 0.1f);
        record.put("exact", Double.NEGATIVE_INFINITY);
        record.put("flag", true);
        record.put("hash", new GenericData.Fixed(schema.getField("hash").schema(), new byte[] {1, 2, -1}));
        record.put("unit", new GenericData.EnumSymbol(schema.getField("unit").schema(), "F"));
        record.put("when", 1_700_000_000_123L);
        record.put("numbers", List.of());
        Map<String, String> labels = new TreeMap<>();
        labels.put("b", null);
        labels.put("a", "x");
        record.put("labels", labels);
        record.put("next", next);
        return record;
    }

    @SuppressWarnings("unchecked")
    private static void print(String name, TypeSerializer<?> serializer, Object... values) throws Exception {
        TypeSerializer<Object> typed = (TypeSerializer<Object>) serializer;
        List<byte[]> written = new ArrayList<>();
        for (Object value : values) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            typed.serialize(value, out);
            written.add(out.getCopyOfBuffer());
        }
        DataOutputSerializer snapshot = new DataOutputSerializer(64);
        TypeSerializerSnapshotSerializationUtil.writeSerializerSnapshot(snapshot, typed.snapshotConfiguration());
        StringBuilder text = new StringBuilder();
        text.append("{\"name\":").append(Json.text(name)).append(",\"length\":").append(typed.getLength());
        text.append(",\"snapshot\":").append(Json.base64(snapshot.getCopyOfBuffer())).append(",\"values\":[");
        for (int i = 0; i < values.length; i++) {
            text.append(i == 0 ? "" : ",").append("{\"bytes\":").append(Json.base64(written.get(i)));
            text.append(",\"hash\":").append(hash(values[i], typed));
            text.append(",\"value\":").append(Json.of(values[i], typed)).append('}');
        }
        System.out.println(text.append("]}"));
    }

    /** Keys of SQL are binary rows. */
    private static String hash(Object value, TypeSerializer<?> serializer) {
        if (value instanceof RowData) {
            BinaryRowData row = ((RowDataSerializer) serializer).toBinaryRow((RowData) value);
            return String.valueOf(row.hashCode());
        }
        return value == null ? "null" : String.valueOf(value.hashCode());
    }

    /** The JSON form that the documents of the corpus have. */
    private static final class Json {

        static String of(Object value, TypeSerializer<?> serializer) throws Exception {
            if (value instanceof RowData) {
                return sqlRow((RowData) value, (LogicalType[]) field(serializer, "types"));
            }
            if (value instanceof ArrayData) {
                return sqlArray((ArrayData) value, (LogicalType) field(serializer, "eleType"));
            }
            if (value instanceof MapData) {
                return sqlMap((MapData) value, (LogicalType) field(serializer, "keyType"), (LogicalType) field(serializer, "valueType"));
            }
            return plain(value);
        }

        private static Object field(Object object, String name) throws Exception {
            Field field = object.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(object);
        }

        private static String plain(Object value) throws Exception {
            if (value == null || value instanceof VoidNamespace) {
                return "null";
            }
            if (value instanceof Boolean) {
                return value.toString();
            }
            if (value instanceof BigDecimal || value instanceof BigInteger) {
                return text(value.toString());
            }
            if (value instanceof Float || value instanceof Double) {
                return Double.isFinite(((Number) value).doubleValue()) ? value.toString() : text(value.toString());
            }
            if (value instanceof Number) {
                long number = ((Number) value).longValue();
                return Math.abs(number) < 1L << 53 && number != Long.MIN_VALUE ? value.toString() : text(value.toString());
            }
            if (value instanceof Enum) {
                return text(((Enum<?>) value).name());
            }
            if (value instanceof Date) {
                return text(Instant.ofEpochMilli(((Date) value).getTime()).toString());
            }
            if (value instanceof byte[]) {
                return base64((byte[]) value);
            }
            if (value instanceof ByteBuffer) {
                return base64(((ByteBuffer) value).duplicate().array());
            }
            if (value instanceof GenericData.Fixed) {
                return base64(((GenericData.Fixed) value).bytes());
            }
            if (value instanceof TimeWindow) {
                return object("start", ((TimeWindow) value).getStart(), "end", ((TimeWindow) value).getEnd());
            }
            if (value instanceof org.apache.flink.table.runtime.operators.window.TimeWindow) {
                org.apache.flink.table.runtime.operators.window.TimeWindow window =
                        (org.apache.flink.table.runtime.operators.window.TimeWindow) value;
                return object("start", window.getStart(), "end", window.getEnd());
            }
            if (value instanceof CountWindow) {
                return object("id", ((CountWindow) value).getId());
            }
            if (value instanceof GlobalWindow) {
                return text("global");
            }
            if (value instanceof RawValueData) {
                return "{\"@raw\":" + base64(((RawValueData<?>) value).toBytes(null)) + "}";
            }
            return composite(value);
        }

        private static String composite(Object value) throws Exception {
            if (value instanceof TimerHeapInternalTimer) {
                TimerHeapInternalTimer<?, ?> timer = (TimerHeapInternalTimer<?, ?>) value;
                return object("key", timer.getKey(), "namespace", timer.getNamespace(), "timestamp", timer.getTimestamp());
            }
            if (value.getClass().isArray()) {
                List<Object> elements = new ArrayList<>();
                for (int i = 0; i < java.lang.reflect.Array.getLength(value); i++) {
                    elements.add(java.lang.reflect.Array.get(value, i));
                }
                return array(elements);
            }
            if (value instanceof Iterable) {
                return array((Iterable<?>) value);
            }
            if (value instanceof Map) {
                return map((Map<?, ?>) value);
            }
            if (value instanceof Tuple) {
                List<Object> parts = new ArrayList<>();
                for (int i = 0; i < ((Tuple) value).getArity(); i++) {
                    parts.add(((Tuple) value).getField(i));
                }
                return array(parts);
            }
            if (value instanceof Either) {
                Either<?, ?> either = (Either<?, ?>) value;
                return either.isLeft() ? object("left", either.left()) : object("right", either.right());
            }
            if (value instanceof Row) {
                List<Object> fields = new ArrayList<>();
                for (int i = 0; i < ((Row) value).getArity(); i++) {
                    fields.add(((Row) value).getField(i));
                }
                return "{\"kind\":" + text(((Row) value).getKind().shortString()) + ",\"fields\":" + array(fields) + "}";
            }
            if (value instanceof GenericData.Record) {
                return record((GenericData.Record) value);
            }
            return value instanceof Shape || value instanceof Point || value instanceof Generic ? pojo(value) : text(value.toString());
        }

        private static String record(GenericData.Record record) throws Exception {
            List<String> fields = new ArrayList<>();
            for (Schema.Field field : record.getSchema().getFields()) {
                Object value = record.get(field.pos());
                String json;
                if (value instanceof Map) {
                    List<String> entries = new ArrayList<>();
                    for (Map.Entry<?, ?> entry : new TreeMap<>((Map<?, ?>) value).entrySet()) {
                        entries.add(text(entry.getKey().toString()) + ":" + plain(entry.getValue()));
                    }
                    json = "{" + String.join(",", entries) + "}";
                } else {
                    json = plain(value);
                }
                fields.add(text(field.name()) + ":" + json);
            }
            return "{" + String.join(",", fields) + "}";
        }

        private static String pojo(Object value) throws Exception {
            Map<String, Object> fields = new TreeMap<>();
            for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    fields.put(field.getName(), field.get(value));
                }
            }
            List<String> json = new ArrayList<>();
            if (value instanceof Circle || value instanceof Square) {
                json.add("\"@class\":" + text(value.getClass().getName()));
            }
            for (Map.Entry<String, Object> field : fields.entrySet()) {
                json.add(text(field.getKey()) + ":" + plain(field.getValue()));
            }
            return "{" + String.join(",", json) + "}";
        }

        private static String map(Map<?, ?> map) throws Exception {
            Map<String, String> sorted = new TreeMap<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                String key = plain(entry.getKey());
                sorted.put(key, "{\"key\":" + key + ",\"value\":" + plain(entry.getValue()) + "}");
            }
            return "[" + String.join(",", sorted.values()) + "]";
        }

        private static String array(Iterable<?> elements) throws Exception {
            List<String> json = new ArrayList<>();
            for (Object element : elements) {
                json.add(plain(element));
            }
            return "[" + String.join(",", json) + "]";
        }

        private static String object(Object... namesAndValues) throws Exception {
            List<String> json = new ArrayList<>();
            for (int i = 0; i < namesAndValues.length; i += 2) {
                json.add(text((String) namesAndValues[i]) + ":" + plain(namesAndValues[i + 1]));
            }
            return "{" + String.join(",", json) + "}";
        }

        private static String sqlRow(RowData row, LogicalType[] types) throws Exception {
            List<String> fields = new ArrayList<>();
            for (int i = 0; i < types.length; i++) {
                fields.add(sqlValue(RowData.createFieldGetter(types[i], i).getFieldOrNull(row), types[i]));
            }
            return "{\"kind\":" + text(row.getRowKind().shortString()) + ",\"fields\":[" + String.join(",", fields) + "]}";
        }

        private static String sqlArray(ArrayData array, LogicalType type) throws Exception {
            List<String> json = new ArrayList<>();
            for (int i = 0; i < array.size(); i++) {
                json.add(sqlValue(ArrayData.createElementGetter(type).getElementOrNull(array, i), type));
            }
            return "[" + String.join(",", json) + "]";
        }

        private static String sqlMap(MapData map, LogicalType keyType, LogicalType valueType) throws Exception {
            List<String> json = new ArrayList<>();
            for (int i = 0; i < map.size(); i++) {
                Object key = ArrayData.createElementGetter(keyType).getElementOrNull(map.keyArray(), i);
                Object value = ArrayData.createElementGetter(valueType).getElementOrNull(map.valueArray(), i);
                json.add("{\"key\":" + sqlValue(key, keyType) + ",\"value\":" + sqlValue(value, valueType) + "}");
            }
            return "[" + String.join(",", json) + "]";
        }

        private static String sqlValue(Object value, LogicalType type) throws Exception {
            if (value instanceof RowData) {
                return sqlRow((RowData) value, type.getChildren().toArray(new LogicalType[0]));
            }
            if (value instanceof ArrayData) {
                return sqlArray((ArrayData) value, ((ArrayType) type).getElementType());
            }
            if (value instanceof MapData) {
                boolean multiset = type instanceof MultisetType;
                LogicalType key = multiset ? ((MultisetType) type).getElementType() : ((MapType) type).getKeyType();
                return sqlMap((MapData) value, key, multiset ? new IntType(false) : ((MapType) type).getValueType());
            }
            if (value instanceof Integer && type instanceof DateType) {
                return text(LocalDate.ofEpochDay((Integer) value).toString());
            }
            if (value instanceof Integer && type instanceof TimeType) {
                return text(LocalTime.ofNanoOfDay((Integer) value * 1_000_000L).toString());
            }
            return plain(value);
        }

        static String base64(byte[] bytes) {
            return text(Base64.getEncoder().encodeToString(bytes));
        }

        static String text(String text) {
            StringBuilder json = new StringBuilder("\"");
            for (char c : text.toCharArray()) {
                if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') {
                    json.append(String.format("\\u%04x", (int) c));
                } else {
                    json.append(c);
                }
            }
            return json.append('"').toString();
        }
    }
}
