package flinklab;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the keys of what {@link BigState} wrote, reading all values.
 *
 * <pre>countstate --pointer P --how sql|api [--backend rocksdb|hashmap] [--parallelism 2]</pre>
 *
 * <p>Prints a line of JSON: rows, bytes of payload (by the API), milliseconds from the start of the job, and the most memory that the process had.
 */
public final class CountState {

    private static final LongAdder ROWS = new LongAdder();
    private static final LongAdder BYTES = new LongAdder();

    private CountState() {}

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        String pointer = arguments.required("--pointer");
        String backend = arguments.optional("--backend", "rocksdb");
        int parallelism = arguments.integer("--parallelism", 2);
        long start = System.nanoTime();
        if (arguments.required("--how").equals("sql")) {
            bySql(pointer, backend, parallelism);
        } else {
            byApi(pointer, backend, parallelism);
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("rows", ROWS.sum());
        result.put("payloadBytes", BYTES.sum());
        result.put("milliseconds", (System.nanoTime() - start) / 1_000_000);
        result.put("peakBytes", peakBytes());
        System.out.println(Json.compact(result));
        Exit.now(0);
    }

    private static void bySql(String pointer, String backend, int parallelism) throws Exception {
        TableEnvironment tables =
                TableEnvironment.create(EnvironmentSettings.newInstance().inBatchMode().build());
        tables.getConfig().set("parallelism.default", String.valueOf(parallelism));
        tables.executeSql(
                "CREATE TABLE big (k STRING, payload BYTES, `count` BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ("
                        + "'connector' = 'savepoint', 'state.backend.type' = '" + backend + "', 'state.path' = '"
                        + pointer + "', 'operator.uid' = 'big')");
        try (CloseableIterator<Row> rows =
                tables.executeSql("SELECT COUNT(payload), SUM(`count`) FROM big")
                        .collect()) {
            Row row = rows.next();
            ROWS.add(((Number) row.getField(0)).longValue());
        }
    }

    private static void byApi(String pointer, String backend, int parallelism) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        env.setParallelism(parallelism);
        StateBackend stateBackend =
                backend.equals("hashmap") ? new HashMapStateBackend() : new EmbeddedRocksDBStateBackend();
        SavepointReader.read(env, pointer, stateBackend)
                .readKeyedState(OperatorIdentifier.forUid("big"), new Lengths(), Types.STRING, Types.INT)
                .map(new Count())
                .sinkTo(new DiscardingSink<>());
        env.execute();
    }

    private static long peakBytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        return -1;
    }

    private static final class Lengths extends KeyedStateReaderFunction<String, Integer> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<byte[]> payload;
        private transient ValueState<Long> count;

        @Override
        public void open(OpenContext context) {
            payload = getRuntimeContext().getState(new ValueStateDescriptor<>("payload", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
        }

        @Override
        public void readKey(String key, Context context, Collector<Integer> out) throws Exception {
            if (count.value() != null) {
                out.collect(payload.value().length);
            }
        }
    }

    private static final class Count implements MapFunction<Integer, Integer> {
        private static final long serialVersionUID = 1L;

        @Override
        public Integer map(Integer length) {
            ROWS.increment();
            BYTES.add(length);
            return length;
        }
    }
}
