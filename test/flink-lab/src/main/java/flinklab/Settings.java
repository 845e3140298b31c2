package flinklab;

import java.util.LinkedHashMap;
import java.util.Map;

/** Flink configuration under the option names of every release from 1.15 on. */
final class Settings {

    private final Map<String, String> values = new LinkedHashMap<>();

    private Settings() {}

    /** A file system checkpoint storage that keeps everything and checkpoints only on request. */
    static Settings defaults() {
        return s3()
                .backend("hashmap")
                .set("execution.checkpointing.storage", "state.checkpoint-storage", "filesystem")
                .retained(10)
                .set("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION")
                // A long pause keeps the periodic trigger from firing beside the requested checkpoints.
                .set("execution.checkpointing.interval", "24 h")
                .set("execution.checkpointing.min-pause", "24 h")
                .set("execution.checkpointing.timeout", "10 min")
                .set("restart-strategy.type", "restart-strategy", "none")
                .set("rest.port", "0")
                .set("taskmanager.memory.managed.size", "128 mb")
                .set("taskmanager.memory.network.min", "32 mb")
                .set("taskmanager.memory.network.max", "32 mb");
    }

    /** How to reach the object store that the script with-s3 has started; nothing without it. */
    static Settings s3() {
        Settings settings = new Settings();
        String endpoint = System.getenv("FLINK_LAB_S3_ENDPOINT");
        if (endpoint != null) {
            settings.set("s3.endpoint", endpoint)
                    .set("s3.path.style.access", "true")
                    .set("s3.access-key", "lab")
                    .set("s3.secret-key", "lab-secret")
                    .set("s3.entropy.key", "_entropy_")
                    .set("s3.entropy.length", "4");
        }
        return settings;
    }

    Settings set(String name, String value) {
        values.put(name, value);
        return this;
    }

    Settings set(String name, String olderName, String value) {
        return set(name, value).set(olderName, value);
    }

    /** Adds the settings to these and returns these. */
    Settings with(Settings more) {
        values.putAll(more.values);
        return this;
    }

    static Settings empty() {
        return new Settings();
    }

    Settings backend(String backend) {
        return set("state.backend.type", "state.backend", backend);
    }

    Settings incremental(boolean incremental) {
        return set("execution.checkpointing.incremental", "state.backend.incremental", String.valueOf(incremental));
    }

    /** State up to this size is stored in the metadata file itself. Flink's default is 20 KiB. */
    Settings inlineThreshold(String size) {
        return set("execution.checkpointing.data-inline-threshold", "state.storage.fs.memory-threshold", size);
    }

    Settings retained(int checkpoints) {
        return set(
                "execution.checkpointing.num-retained",
                "state.checkpoints.num-retained",
                String.valueOf(checkpoints));
    }

    Settings directory(String uri) {
        return set("execution.checkpointing.dir", "state.checkpoints.dir", uri)
                .set("execution.checkpointing.savepoint-dir", "state.savepoints.dir", uri);
    }

    Settings restoreFrom(String pointer, String claimMode) {
        return set("execution.state-recovery.path", "execution.savepoint.path", pointer)
                .set("execution.state-recovery.claim-mode", "execution.savepoint-restore-mode", claimMode);
    }

    Settings restoreFrom(String pointer, String claimMode, boolean allowNonRestored) {
        return restoreFrom(pointer, claimMode)
                .set(
                        "execution.state-recovery.ignore-unclaimed-state",
                        "execution.savepoint.ignore-unclaimed-state",
                        String.valueOf(allowNonRestored));
    }

    Map<String, String> asMap() {
        return new LinkedHashMap<>(values);
    }
}
