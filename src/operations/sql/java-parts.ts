/** Parts of the job that do not depend on the state, each written where it is used. */

/** Classes by the name that the job uses, to be imported where the name occurs. */
export const JAVA_IMPORTS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'java.lang.reflect.Array',
    'java.util.ArrayDeque',
    'java.util.ArrayList',
    'java.util.Base64',
    'java.util.LinkedHashMap',
    'java.util.List',
    'java.util.Map',
    'java.util.Queue',
    'java.util.stream.Stream',
    'org.apache.avro.Schema',
    'org.apache.avro.specific.SpecificRecordBase',
    'org.apache.flink.api.common.RuntimeExecutionMode',
    'org.apache.flink.api.common.functions.AggregateFunction',
    'org.apache.flink.api.common.functions.Function',
    'org.apache.flink.api.common.functions.MapFunction',
    'org.apache.flink.api.common.functions.OpenContext',
    'org.apache.flink.api.common.functions.ReduceFunction',
    'org.apache.flink.api.common.serialization.SerializerConfigImpl',
    'org.apache.flink.api.common.state.AggregatingState',
    'org.apache.flink.api.common.state.AggregatingStateDescriptor',
    'org.apache.flink.api.common.state.AppendingState',
    'org.apache.flink.api.common.state.ListState',
    'org.apache.flink.api.common.state.ListStateDescriptor',
    'org.apache.flink.api.common.state.MapState',
    'org.apache.flink.api.common.state.MapStateDescriptor',
    'org.apache.flink.api.common.state.ReducingState',
    'org.apache.flink.api.common.state.ReducingStateDescriptor',
    'org.apache.flink.api.common.state.State',
    'org.apache.flink.api.common.state.StateDescriptor',
    'org.apache.flink.api.common.state.ValueState',
    'org.apache.flink.api.common.state.ValueStateDescriptor',
    'org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo',
    'org.apache.flink.api.common.typeinfo.BasicTypeInfo',
    'org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo',
    'org.apache.flink.api.common.typeinfo.TypeInformation',
    'org.apache.flink.api.common.typeinfo.Types',
    'org.apache.flink.api.common.typeutils.TypeSerializer',
    'org.apache.flink.api.common.typeutils.base.LongSerializer',
    'org.apache.flink.api.java.tuple.Tuple',
    'org.apache.flink.api.java.tuple.Tuple2',
    'org.apache.flink.api.java.typeutils.PojoTypeInfo',
    'org.apache.flink.api.java.typeutils.runtime.TupleSerializer',
    'org.apache.flink.api.java.typeutils.TypeExtractor',
    'org.apache.flink.formats.avro.typeutils.AvroTypeInfo',
    'org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo',
    'org.apache.flink.runtime.checkpoint.OperatorState',
    'org.apache.flink.runtime.state.StateBackend',
    'org.apache.flink.runtime.state.VoidNamespaceSerializer',
    'org.apache.flink.runtime.state.VoidNamespace',
    'org.apache.flink.runtime.state.hashmap.HashMapStateBackend',
    'org.apache.flink.runtime.state.ttl.TtlStateFactory',
    'org.apache.flink.runtime.state.ttl.TtlValue',
    'org.apache.flink.state.api.OperatorIdentifier',
    'org.apache.flink.state.api.SavepointReader',
    'org.apache.flink.state.api.functions.KeyedStateReaderFunction',
    'org.apache.flink.state.api.functions.WindowReaderFunction',
    'org.apache.flink.state.api.input.KeyedStateInputFormat',
    'org.apache.flink.state.api.input.SourceBuilder',
    'org.apache.flink.state.api.input.operator.StateReaderOperator',
    'org.apache.flink.state.api.runtime.MutableConfig',
    'org.apache.flink.state.api.runtime.SavepointLoader',
    'org.apache.flink.state.api.runtime.SavepointRuntimeContext',
    'org.apache.flink.state.forst.ForStStateBackend',
    'org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend',
    'org.apache.flink.streaming.api.datastream.DataStream',
    'org.apache.flink.streaming.api.environment.StreamExecutionEnvironment',
    'org.apache.flink.streaming.api.operators.InternalTimerService',
    'org.apache.flink.streaming.api.windowing.windows.GlobalWindow',
    'org.apache.flink.streaming.api.windowing.windows.TimeWindow',
    'org.apache.flink.streaming.api.windowing.windows.Window',
    'org.apache.flink.table.data.conversion.DataStructureConverter',
    'org.apache.flink.table.data.conversion.DataStructureConverters',
    'org.apache.flink.table.runtime.typeutils.InternalTypeInfo',
    'org.apache.flink.table.types.logical.LogicalType',
    'org.apache.flink.table.types.logical.RowType',
    'org.apache.flink.table.types.logical.utils.LogicalTypeParser',
    'org.apache.flink.table.types.utils.TypeConversions',
    'org.apache.flink.types.Either',
    'org.apache.flink.types.Row',
    'org.apache.flink.util.CloseableIterator',
    'org.apache.flink.util.Collector',
  ].map((name) => [name.slice(name.lastIndexOf('.') + 1), name]),
);

const ANY = `
    /** Values are handled as objects: what they are, their types say. */
    @SuppressWarnings("unchecked")
    private static TypeInformation<Object> any(TypeInformation<?> type) {
        return (TypeInformation<Object>) type;
    }`;

const CLASS_OF = `
    /** A class of the application, which need not be public. */
    private static Class<?> classOf(String name) {
        try {
            return Class.forName(name, false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("not on the class path: " + name, e);
        }
    }`;

const TTL = `
    /** Of state with time to live: each value has the time of its last access, and none is taken for expired. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static TypeSerializer<Object> withTime(TypeInformation<Object> type) {
        TypeSerializer<Object> value = type.createSerializer(new SerializerConfigImpl());
        return (TypeSerializer) new TtlStateFactory.TtlSerializer<>(LongSerializer.INSTANCE, value);
    }`;

const SQL_TYPE = `
    private static LogicalType sqlType(String text) {
        return LogicalTypeParser.parse(text, Thread.currentThread().getContextClassLoader());
    }`;

const ROW_TYPE = `
    /** A row, of which Flink stores the types of the fields, not their names. */
    private static RowType rowType(String... fields) {
        return RowType.of(Stream.of(fields).map(field -> sqlType(field)).toArray(LogicalType[]::new));
    }`;

const EXTERNAL = `
    /** What a program sees of a value of SQL. */
    private static Object external(Object value, LogicalType type) {
        if (value instanceof TtlValue) {
            TtlValue<?> timed = (TtlValue<?>) value;
            return new TtlValue<>(external(timed.getUserValue(), type), timed.getLastAccessTimestamp());
        }
        DataStructureConverter<Object, Object> converter =
                DataStructureConverters.getConverter(TypeConversions.fromLogicalToDataType(type));
        converter.open(Thread.currentThread().getContextClassLoader());
        return converter.toExternalOrNull(value);
    }`;

const NAMESPACED = `
    /** Reads keyed state with a reader of its own: the State Processor API has none for namespaces and timers. */
    private static DataStream<String> read(StreamExecutionEnvironment env, StateReaderOperator<?, Object, Object, String> reader)
            throws Exception {
        OperatorState state =
                SavepointLoader.loadSavepointMetadata(POINTER).getOperatorStates().stream()
                        .filter(candidate -> candidate.getOperatorID().equals(OPERATOR.getOperatorId()))
                        .findFirst()
                        .orElseThrow();
        return SourceBuilder.fromFormat(
                env,
                new KeyedStateInputFormat<>(
                        state, stateBackend(), MutableConfig.of(env.getConfiguration()), reader, env.getConfig()),
                Types.STRING);
    }`;

const SERIALIZER = `
    @SuppressWarnings("unchecked")
    private static TypeSerializer<Object> anySerializer(TypeSerializer<?> serializer) {
        return (TypeSerializer<Object>) serializer;
    }`;

const NO_FUNCTION = `
    /** The readers below need none. */
    private static final class NoFunction implements Function {
        private static final long serialVersionUID = 1L;
    }`;

const TIMERS = `
    /**
     * Reads the timers of a service. KeyedStateReaderFunction.Context shows those of user-timers alone, and of keys that have
     * state. The timers of a split are held in memory.
     */
    private static final class Timers extends StateReaderOperator<NoFunction, Object, Object, String> {
        private static final long serialVersionUID = 1L;
        private final String service;
        private final boolean eventTime;
        private final String state;
        private transient Queue<String> rows;

        Timers(String service, boolean eventTime, String state, TypeInformation<Object> keyType, TypeSerializer<Object> namespace) {
            super(new NoFunction(), keyType, namespace);
            this.service = service;
            this.eventTime = eventTime;
            this.state = state;
        }

        @Override
        public CloseableIterator<Tuple2<Object, Object>> getKeysAndNamespaces(SavepointRuntimeContext context) throws Exception {
            rows = new ArrayDeque<>();
            List<Tuple2<Object, Object>> found = new ArrayList<>();
            InternalTimerService<Object> timers = getInternalTimerService(service);
            if (eventTime) {
                timers.forEachEventTimeTimer((namespace, timestamp) -> found.add(note(namespace, timestamp)));
            } else {
                timers.forEachProcessingTimeTimer((namespace, timestamp) -> found.add(note(namespace, timestamp)));
            }
            return CloseableIterator.adapterForIterator(found.iterator());
        }

        private Tuple2<Object, Object> note(Object namespace, long timestamp) {
            Object key = getCurrentKey();
            rows.add(row(state, @KEY@, namespace, "timestamp", timestamp));
            return Tuple2.of(key, namespace);
        }

        @Override
        public void processElement(Object key, Object namespace, Collector<String> out) {
            out.collect(rows.remove());
        }
    }`;

const NAMESPACES = `
    /** Reads a state in all its namespaces. */
    private static final class Namespaces extends StateReaderOperator<NoFunction, Object, Object, String> {
        private static final long serialVersionUID = 1L;
        private final StateDescriptor<?, ?> descriptor;
        private final Show shownValue;

        Namespaces(StateDescriptor<?, ?> descriptor, TypeInformation<Object> keyType, TypeSerializer<Object> namespace, Show shownValue) {
            super(new NoFunction(), keyType, namespace);
            this.descriptor = descriptor;
            this.shownValue = shownValue;
        }

        @Override
        public void open() throws Exception {
            super.open();
            descriptor.initializeSerializerUnlessSet(getSerializerFactory());
        }

        @Override
        public CloseableIterator<Tuple2<Object, Object>> getKeysAndNamespaces(SavepointRuntimeContext context) throws Exception {
            // Flink lists what it has registered only.
            getKeyedStateBackend().getOrCreateKeyedState(namespaceSerializer, descriptor);
            Stream<Tuple2<Object, Object>> stream = getKeyedStateBackend().getKeysAndNamespaces(descriptor.getName());
            return CloseableIterator.fromList(stream.toList(), ignored -> {});
        }

        @Override
        public void processElement(Object key, Object namespace, Collector<String> out) throws Exception {
            State state = getKeyedStateBackend().getPartitionedState(namespace, namespaceSerializer, descriptor);
            Object value = contents(state);
            out.collect(row(descriptor.getName(), @KEY@, namespace, value instanceof Map ? "entries" : "value", shownValue.of(value)));
        }
    }`;

const CONTENTS = `
    /** What a state has for its key and namespace: a value, a list, or a map. */
    private static Object contents(State state) throws Exception {
        if (state instanceof ValueState) {
            return ((ValueState<?>) state).value();
        } else if (state instanceof MapState) {
            return entries((MapState<?, ?>) state, key -> key, value -> value);
        }
        return ((AppendingState<?, ?>) state).get();
    }`;

const EACH = `
    private static List<Object> each(Iterable<?> elements, Show shown) {
        List<Object> result = new ArrayList<>();
        elements.forEach(element -> result.add(shown.of(element)));
        return result;
    }`;

const ENTRIES = `
    private static Map<Object, Object> entries(MapState<?, ?> map, Show shownKey, Show shownValue) throws Exception {
        Map<Object, Object> result = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : map.entries()) {
            result.put(shownKey.of(entry.getKey()), shownValue.of(entry.getValue()));
        }
        return result;
    }`;

const WINDOWS = `
    /** Prints what a window holds. */
    private static final class Windows<W extends Window> extends WindowReaderFunction<Object, String, Object, W> {
        private static final long serialVersionUID = 1L;
        private final boolean isList;

        Windows(boolean isList) {
            this.isList = isList;
        }

        @Override
        public void readWindow(Object key, Context<W> context, Iterable<Object> elements, Collector<String> out) {
            Object value = isList ? elements : elements.iterator().next();
            out.collect(row("window-contents", @KEY@, context.window(), "value", value));
        }
    }`;

const ACCUMULATORS = `
    /** Stands for the function of the job, which is not needed to read what it has collected. */
    private static final class Accumulators implements AggregateFunction<Object, Object, Object> {
        private static final long serialVersionUID = 1L;

        @Override
        public Object createAccumulator() {
            return null;
        }

        @Override
        public Object add(Object value, Object accumulator) {
            return accumulator;
        }

        @Override
        public Object getResult(Object accumulator) {
            return accumulator;
        }

        @Override
        public Object merge(Object a, Object b) {
            throw new UnsupportedOperationException();
        }
    }`;

const ELEMENTS = `
    /** Prints the elements of a list of operator state. */
    private static final class Elements implements MapFunction<Object, String> {
        private static final long serialVersionUID = 1L;
        private final String state;

        Elements(String state) {
            this.state = state;
        }

        @Override
        public String map(Object element) {
            return row(state, null, null, "value", element);
        }
    }`;

const BROADCAST = `
    /** Prints the entries of a broadcast state. */
    private static final class Entries implements MapFunction<Tuple2<Object, Object>, String> {
        private static final long serialVersionUID = 1L;
        private final String state;

        Entries(String state) {
            this.state = state;
        }

        @Override
        public String map(Tuple2<Object, Object> entry) {
            return row(state, entry.f0, null, "value", entry.f1);
        }
    }`;

const ROW = `
    /** A line as \`ckpt read --jsonl\` has it. */
    private static String row(String state, Object key, Object namespace, String what, Object value) {
        return "{\\"state\\":" + json(state) + ",\\"key\\":" + json(key) + ",\\"namespace\\":" + json(namespace) + ","
                + json(what) + ":" + json(value) + "}";
    }`;

const JSON_TEXT = `
    /** Text of JSON: 64-bit numbers beyond 2^53, big numbers, NaN and times as text, bytes as base64. */
    private static String json(Object value) {
        if (value == null || value instanceof VoidNamespace) {
            return "null";
        } else if (value instanceof Boolean || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return value.toString();
        } else if (value instanceof Long) {
            long number = (Long) value;
            return number > -(1L << 53) && number < 1L << 53 ? value.toString() : quote(value.toString());
        } else if (value instanceof Float || value instanceof Double) {
            return Double.isFinite(((Number) value).doubleValue()) ? value.toString() : quote(value.toString());
        } else if (value instanceof byte[]) {
            return quote(Base64.getEncoder().encodeToString((byte[]) value));
        } else if (value.getClass().isArray()) {
            List<Object> elements = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                elements.add(Array.get(value, i));
            }
            return json(elements);
        } else if (value instanceof Tuple) {
            List<Object> parts = new ArrayList<>();
            for (int i = 0; i < ((Tuple) value).getArity(); i++) {
                parts.add(((Tuple) value).getField(i));
            }
            return json(parts);
        } else if (value instanceof Map) {
            List<String> entries = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                entries.add("{\\"key\\":" + json(entry.getKey()) + ",\\"value\\":" + json(entry.getValue()) + "}");
            }
            return "[" + String.join(",", entries) + "]";
        } else if (value instanceof Enum) {
            return quote(((Enum<?>) value).name());
        } else if (value instanceof TtlValue) {
            TtlValue<?> timed = (TtlValue<?>) value;
            return "{\\"value\\":" + json(timed.getUserValue()) + ",\\"lastAccess\\":" + timed.getLastAccessTimestamp() + "}";
        } else if (value instanceof TimeWindow) {
            return "{\\"start\\":" + json(((TimeWindow) value).getStart()) + ",\\"end\\":" + json(((TimeWindow) value).getEnd()) + "}";
        } else if (value instanceof Either) {
            Either<?, ?> either = (Either<?, ?>) value;
            return either.isLeft() ? "{\\"left\\":" + json(either.left()) + "}" : "{\\"right\\":" + json(either.right()) + "}";
        } else if (value instanceof Row) {
            Row row = (Row) value;
            List<Object> fields = new ArrayList<>();
            for (int i = 0; i < row.getArity(); i++) {
                fields.add(row.getField(i));
            }
            return "{\\"kind\\":" + json(row.getKind().shortString()) + ",\\"fields\\":" + json(fields) + "}";
        } else if (value instanceof java.sql.Timestamp) {
            return quote(((java.sql.Timestamp) value).toInstant().toString());
        } else if (value.getClass().getName().startsWith("java.") && !(value instanceof Iterable)) {
            return quote(value.toString());
        }
        return jsonOfObject(value);
    }

    private static String jsonOfObject(Object value) {
        for (Class<?> type = value.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals("org.apache.avro.specific.SpecificRecordBase") || type.getName().equals("org.apache.avro.generic.GenericData$Record")) {
                return value.toString();
            }
        }
        if (value instanceof Iterable) {
            List<String> elements = new ArrayList<>();
            ((Iterable<?>) value).forEach(element -> elements.add(json(element)));
            return "[" + String.join(",", elements) + "]";
        }
        TypeInformation<?> type = TypeExtractor.createTypeInfo(value.getClass());
        if (!(type instanceof PojoTypeInfo)) {
            return "{\\"@class\\":" + quote(value.getClass().getName()) + ",\\"@text\\":" + quote(value.toString()) + "}";
        }
        List<String> fields = new ArrayList<>();
        PojoTypeInfo<?> pojo = (PojoTypeInfo<?>) type;
        for (int i = 0; i < pojo.getArity(); i++) {
            java.lang.reflect.Field field = pojo.getPojoFieldAt(i).getField();
            field.setAccessible(true);
            try {
                fields.add(quote(field.getName()) + ":" + json(field.get(value)));
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
        return "{" + String.join(",", fields) + "}";
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\\\') {
                quoted.append('\\\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                quoted.append(String.format("\\\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }`;

const SHOW = `
    /** Makes of a value what is printed. */
    private interface Show extends java.io.Serializable {
        Object of(Object value);
    }`;

/** Methods and classes, by a name that occurs in the code that needs them. Those that need others come first. */
export const JAVA_PARTS: readonly { readonly usedBy: RegExp; readonly code: string }[] = [
  { usedBy: /new Timers\(/, code: TIMERS },
  { usedBy: /new Namespaces\(/, code: NAMESPACES },
  { usedBy: /new Windows</, code: WINDOWS },
  { usedBy: /new Accumulators\(/, code: ACCUMULATORS },
  { usedBy: /new Elements\(/, code: ELEMENTS },
  { usedBy: /new Entries\(/, code: BROADCAST },
  { usedBy: /\bcontents\(/, code: CONTENTS },
  { usedBy: /\bentries\(/, code: ENTRIES },
  { usedBy: /\beach\(/, code: EACH },
  { usedBy: /new NoFunction\(/, code: NO_FUNCTION },
  { usedBy: /new (Timers|Namespaces)\(/, code: NAMESPACED },
  { usedBy: /\banySerializer\(/, code: SERIALIZER },
  { usedBy: /\bwithTime\(/, code: TTL },
  { usedBy: /\bexternal\(/, code: EXTERNAL },
  { usedBy: /\browType\(/, code: ROW_TYPE },
  { usedBy: /\b(sqlType|rowType)\(/, code: SQL_TYPE },
  { usedBy: /\bclassOf\(/, code: CLASS_OF },
  { usedBy: /\bany\(/, code: ANY },
  { usedBy: /\bShow\b/, code: SHOW },
  { usedBy: /\brow\(/, code: ROW },
  { usedBy: /\bjson\(/, code: JSON_TEXT },
];
