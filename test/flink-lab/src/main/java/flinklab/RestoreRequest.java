package flinklab;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.annotation.JsonProperty;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What to restore, and how. As options of {@code restore} the fields are spelled {@code --claim-mode} for
 * {@code claimMode}.
 */
public final class RestoreRequest {

    /** Comes back in the verdict, and lets a later request restore from what this one has written. */
    public String id;
    /** The case whose job is started. */
    @JsonProperty("case")
    public String testCase;
    /**
     * Checkpoint, savepoint or metadata file; {@code @ID} is the last checkpoint that the request with that id took,
     * {@code @ID#1} the first.
     */
    public String from;
    public int seed;
    /** Subtasks of the restored job; 0 for as many as the case has. */
    public int parallelism;
    public String claimMode = "NO_CLAIM";
    /** Uids that operators of the restored job have in place of those of the case: old uid to new uid. */
    public Map<String, String> renameUids = new LinkedHashMap<>();
    /** Whether Flink may leave behind state that belongs to no operator of the job. */
    public boolean allowNonRestored;
    /** How the texts of checks begin that look at state which is lost: for each some must fail. */
    public List<String> lost = new ArrayList<>();
    /** Directory in which the restored job leaves two checkpoints of its own; null to take one and delete it. */
    public String thenCheckpoint;
    /** How many checkpoints the restored job keeps; one that it has claimed counts. */
    public int retained = 10;
    /** Trees to delete before the restore. */
    public List<String> remove = new ArrayList<>();
    /** Trees to copy before the restore: from where, to where; what is there goes. */
    public Map<String, String> place = new LinkedHashMap<>();

    /** Reads a JSON object with these fields; one that is not known is an error. */
    static RestoreRequest parse(String json) throws IOException {
        RestoreRequest request = new ObjectMapper().readValue(json, RestoreRequest.class);
        if (request.testCase == null || request.from == null) {
            throw new IllegalArgumentException("A request needs \"case\" and \"from\"");
        }
        return request;
    }

    static RestoreRequest parse(String[] args) {
        Arguments arguments = new Arguments(args);
        RestoreRequest request = new RestoreRequest();
        request.testCase = arguments.required("--case");
        request.from = arguments.required("--from");
        request.seed = arguments.integer("--seed", request.seed);
        request.parallelism = arguments.integer("--parallelism", request.parallelism);
        request.claimMode = arguments.optional("--claim-mode", request.claimMode);
        for (String pair : arguments.all("--rename-uid")) {
            int equals = pair.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("Expected --rename-uid OLD=NEW, found " + pair);
            }
            request.renameUids.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
        request.allowNonRestored = arguments.flag("--allow-non-restored");
        request.lost = arguments.all("--lost");
        request.thenCheckpoint = arguments.optional("--then-checkpoint", null);
        request.retained = arguments.integer("--retained", request.retained);
        return request;
    }

    /** Deletes and copies the trees that the request names. */
    void arrange() throws IOException {
        for (String tree : remove) {
            Generate.deleteTree(Path.of(tree));
        }
        for (Map.Entry<String, String> tree : place.entrySet()) {
            Generate.deleteTree(Path.of(tree.getValue()));
            Generate.copyTree(Path.of(tree.getKey()), Path.of(tree.getValue()));
        }
    }
}
