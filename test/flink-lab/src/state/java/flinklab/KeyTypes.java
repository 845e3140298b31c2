package flinklab;

import flinklab.jobs.Event;
import flinklab.jobs.KeyedByAnything;
import flinklab.jobs.NumberSource;
import flinklab.jobs.WindowCounts;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.ReduceFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes state with keys of many types, names that mean something to SQL and Java, and windows of each kind.
 *
 * <pre>keytypes --out DIR</pre>
 *
 * <p>Prints a line of JSON: a checkpoint and a canonical savepoint for each of two backends.
 */
public final class KeyTypes {

    /** Ends comments, identifiers and literals, and begins others. */
    static final String HOSTILE = "it's `a` \"uid\" \\u000a } */ -- ' ;";

    private KeyTypes() {}

    public static void main(String[] args) throws Exception {
        Path out = Path.of(new Arguments(args).required("--out")).toAbsolutePath().normalize();
        Map<String, Object> result = new LinkedHashMap<>();
        for (String backend : new String[] {"hashmap", "rocksdb"}) {
            Settings settings = Settings.empty().backend(backend).incremental(true).inlineThreshold("0");
            Case keys = new Case("keys-" + backend, "2.0", "Keys of many types", settings, KeyTypes::build, session -> {});
            Session session = new Session(keys, Shape.of(0), out.resolve(backend));
            try (session) {
                session.start();
                session.advance();
                result.put(backend + " checkpoint", session.checkpoint());
                result.put(backend + " savepoint", session.savepoint(SavepointFormatType.CANONICAL));
                session.cancel();
            }
        }
        System.out.println(Json.compact(result));
        Exit.now(0);
    }

    private static void build(StreamExecutionEnvironment env, Shape shape) {
        DataStream<Event> events =
                env.fromSource(
                                new NumberSource("keys", shape.splits, shape.keys, ""),
                                WatermarkStrategy.forMonotonousTimestamps(),
                                "Numbers")
                        .uid("numbers");
        keyed(events, "boolean", Types.BOOLEAN, event -> event.index % 2 == 0);
        keyed(events, "byte", Types.BYTE, event -> (byte) -event.index);
        keyed(events, "short", Types.SHORT, event -> (short) (1000 * event.index));
        keyed(events, "int", Types.INT, event -> (int) -event.index);
        keyed(events, "long", Types.LONG, event -> Long.MAX_VALUE - event.index);
        keyed(events, "double", Types.DOUBLE, event -> event.index / 8.0);
        keyed(events, "char", Types.CHAR, event -> (char) ('\u00e0' + event.index));
        keyed(events, "string", Types.STRING, event -> "\u20ac \ud83d\ude00 '" + event.index);
        keyed(events, "big", Types.BIG_INT, event -> BigInteger.TEN.pow(30).add(BigInteger.valueOf(event.index)));
        keyed(events, "instant", Types.INSTANT, event -> Instant.ofEpochSecond(event.index, 1));
        keyed(events, "date", Types.LOCAL_DATE, event -> LocalDate.of(2024, 2, 29).plusDays(event.index));
        keyed(events, "tuple", Types.TUPLE(Types.STRING, Types.INT), event -> Tuple2.of(event.key, (int) event.index % 3));
        keyed(events, "pojo", TypeInformation.of(KeyedByAnything.Place.class), event -> new KeyedByAnything.Place(event.key, event.index % 3));
        keyed(events, HOSTILE, Types.STRING, event -> HOSTILE + event.index);

        events.keyBy(event -> event.key, Types.STRING)
                .window(TumblingEventTimeWindows.of(Duration.ofDays(1)))
                .process(new Nothing())
                .uid("window list");
        events.map(event -> event.index)
                .returns(Types.LONG)
                .keyBy(index -> index % 3, Types.LONG)
                .window(TumblingEventTimeWindows.of(Duration.ofDays(1)))
                .reduce(new Add())
                .uid("window reduce");
        events.keyBy(event -> event.key, Types.STRING)
                .window(TumblingEventTimeWindows.of(Duration.ofDays(1)))
                .aggregate(new WindowCounts(), Types.LONG, Types.LONG)
                .name("Window without uid");
    }

    private static <K> void keyed(DataStream<Event> events, String name, TypeInformation<K> type, KeySelector<Event, K> key) {
        events.keyBy(key, type).process(new KeyedByAnything<>(name)).returns(Event.class).uid(name);
    }

    private static final class Add implements ReduceFunction<Long> {
        private static final long serialVersionUID = 1L;

        @Override
        public Long reduce(Long a, Long b) {
            return a + b;
        }
    }

    private static final class Nothing extends ProcessWindowFunction<Event, String, String, TimeWindow> {
        private static final long serialVersionUID = 1L;

        @Override
        public void process(String key, Context context, Iterable<Event> elements, Collector<String> out) {}
    }
}
