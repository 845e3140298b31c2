package flinklab;

import flinklab.jobs.BigValues;
import flinklab.jobs.Event;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.execution.SavepointFormatType;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Writes a large incremental RocksDB checkpoint and a canonical savepoint of the same state.
 *
 * <pre>bigstate --keys N --bytes M --out DIR [--backend rocksdb]</pre>
 *
 * <p>N keys, each with a payload of M bytes that cannot be compressed and a counter. Prints a line of JSON: the pointers, the
 * number of keys, and the bytes of all payloads.
 */
public final class BigState {

    private BigState() {}

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int keys = Integer.parseInt(arguments.required("--keys"));
        int bytes = Integer.parseInt(arguments.required("--bytes"));
        Path out = Path.of(arguments.required("--out")).toAbsolutePath().normalize();
        Settings settings =
                Settings.empty()
                        .backend(arguments.optional("--backend", "rocksdb"))
                        .incremental(true)
                        .inlineThreshold("0");
        Map<String, Object> result = new LinkedHashMap<>();
        Case big = new Case("big", "2.0", "Large state", settings, job(bytes), session -> run(session, keys, result));
        Session session = new Session(big, Shape.of(0), out);
        try (session) {
            big.script.run(session);
        }
        result.put("keys", keys);
        result.put("payloadBytes", (long) keys * bytes);
        System.out.println(Json.compact(result));
        Exit.now(0);
    }

    private static Case.Job job(int bytes) {
        // A key for each record: the splits never come to an end of theirs.
        return (env, shape) ->
                Jobs.byKey(
                                env.fromSource(
                                                new flinklab.jobs.NumberSource("big", shape.splits, Integer.MAX_VALUE, ""),
                                                org.apache.flink.api.common.eventtime.WatermarkStrategy.noWatermarks(),
                                                "Numbers")
                                        .uid("big-source"))
                        .process(new BigValues(bytes))
                        .returns(TypeInformation.of(Event.class))
                        .uid("big")
                        .name("Big values");
    }

    private static void run(Session session, int keys, Map<String, Object> result) throws Exception {
        session.start();
        int perSplit = keys / session.shape.splits;
        int step = Math.max(1, perSplit / 20);
        for (int done = 0; done < perSplit; done += step) {
            session.advance(Math.min(step, perSplit - done));
        }
        result.put("checkpoint", session.checkpoint());
        result.put("savepoint", session.savepoint(SavepointFormatType.CANONICAL));
        session.cancel();
    }
}
