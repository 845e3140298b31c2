package flinklab;

import flinklab.jobs.Checks;
import flinklab.jobs.Gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Starts the job of a case from a checkpoint or savepoint and checks that all state is what the first
 * job had written.
 *
 * <pre>
 * restore --case NAME --from POINTER [--seed N] [--parallelism N] [--claim-mode NO_CLAIM|CLAIM|LEGACY]
 *     [--rename-uid OLD=NEW]... [--allow-non-restored] [--lost TEXT]... [--then-checkpoint DIR] [--retained N]
 * </pre>
 *
 * <p>The restored job reads further records, and every operator compares its state with what the index
 * of the record implies. Then it takes a checkpoint of its own, which reads every restored file. Prints
 * a JSON verdict; the exit status is 0 if Flink accepted the pointer and all state was right, else 1.
 *
 * <p>See {@link RestoreRequest} for the options. With {@code --then-checkpoint} the verdict has the {@code pointers}
 * of two checkpoints that stay: the first that the restored job takes, which may refer to files that it was
 * restored from, and one more after further records.
 */
public final class Restore {

    private Restore() {}

    public static void main(String[] args) throws Exception {
        Map<String, Object> verdict = restore(RestoreRequest.parse(args));
        System.out.println(Json.compact(verdict));
        Exit.now(verdict.get("ok").equals(true) ? 0 : 1);
    }

    static Map<String, Object> restore(RestoreRequest request) throws IOException {
        Map<String, Object> verdict = new LinkedHashMap<>();
        verdict.put("flinkVersion", FlinkVersion.current());
        verdict.put("case", request.testCase);
        verdict.put("from", request.from);
        boolean ok = false;
        long start = System.nanoTime();
        Checks.reset(request.lost);
        Path temporary = Files.createTempDirectory("flink-lab-restore");
        try {
            request.arrange();
            Shape shape = Shape.of(request.seed);
            String directory = request.thenCheckpoint == null ? temporary.toString() : request.thenCheckpoint;
            String location = directory.contains("://") ? directory : "file://" + directory;
            Session session = new Session(Cases.byName(request.testCase), shape, location);
            try (session) {
                session.renameUids(request.renameUids);
                session.start(
                        request.parallelism == 0 ? shape.parallelism : request.parallelism,
                        Settings.empty().restoreFrom(request.from, request.claimMode, request.allowNonRestored)
                                .retained(request.retained));
                session.await("a split is restored", () -> !Gate.restoredPositions().isEmpty());
                verdict.put("restoredPositions", new TreeMap<>(Gate.restoredPositions()));
                List<String> pointers = new ArrayList<>();
                session.advance();
                pointers.add(session.checkpoint());
                if (request.thenCheckpoint != null) {
                    session.advance();
                    pointers.add(session.checkpoint());
                    verdict.put("pointers", pointers);
                }
                session.cancel();
            }
            verdict.put("checksPassed", Checks.passed());
            verdict.put("failures", Checks.failures());
            verdict.put("lost", Checks.lost());
            ok = Checks.failures().isEmpty() && Checks.passed() > 0 && !Checks.lost().containsValue(0L);
        } catch (Exception e) {
            verdict.put("error", innermostCause(e));
        } finally {
            Generate.deleteTree(temporary);
        }
        verdict.put("millis", (System.nanoTime() - start) / 1_000_000);
        verdict.put("ok", ok);
        return verdict;
    }

    /** Flink reports the failure of a job as the text of a stack trace. */
    static String innermostCause(Throwable e) {
        while (e.getCause() != null) {
            e = e.getCause();
        }
        String cause = e.toString();
        for (String line : cause.split("\n")) {
            if (line.startsWith("Caused by: ")) {
                cause = line.substring("Caused by: ".length());
            }
        }
        return cause;
    }
}
