package flinklab.jobs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Collects what the operators find wrong with their state, for the program that drives the job. */
public final class Checks {

    private static final int FAILURES_KEPT = 20;

    private static final ConcurrentLinkedQueue<String> FAILURES = new ConcurrentLinkedQueue<>();
    private static final AtomicLong PASSED = new AtomicLong();
    /** The beginnings of checks that are to fail, and how often each has. */
    private static final Map<String, AtomicLong> LOST = new ConcurrentHashMap<>();

    private Checks() {}

    /** Compares a state value with the value that the record's index implies. */
    public static void expect(Object expected, Object actual, String what) {
        if (expected == null ? actual == null : expected.equals(actual)) {
            PASSED.incrementAndGet();
            return;
        }
        for (Map.Entry<String, AtomicLong> lost : LOST.entrySet()) {
            if (what.startsWith(lost.getKey())) {
                lost.getValue().incrementAndGet();
                return;
            }
        }
        if (FAILURES.size() < FAILURES_KEPT) {
            FAILURES.add(what + ": expected " + expected + ", found " + actual);
        }
    }

    /** The first failures, apart from those of lost state. */
    public static List<String> failures() {
        return new ArrayList<>(FAILURES);
    }

    public static long passed() {
        return PASSED.get();
    }

    /** How many checks failed that look at state that is known to be lost, by the beginnings given to {@link #reset}. */
    public static Map<String, Long> lost() {
        Map<String, Long> counts = new LinkedHashMap<>();
        LOST.forEach((beginning, count) -> counts.put(beginning, count.get()));
        return counts;
    }

    /** Forgets all that was found. The checks that begin with one of these texts look at state that is lost. */
    public static void reset(List<String> lost) {
        FAILURES.clear();
        PASSED.set(0);
        LOST.clear();
        lost.forEach(beginning -> LOST.put(beginning, new AtomicLong()));
    }
}
