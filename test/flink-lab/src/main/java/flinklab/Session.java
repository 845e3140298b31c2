package flinklab;

import flinklab.jobs.Gate;

import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.graph.Uids;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** A MiniCluster with one job of a {@link Case} at a time, under the control of the case's script. */
final class Session implements AutoCloseable {

    private static final long TIMEOUT_SECONDS = 120;

    final Case testCase;
    final Shape shape;
    /** Where checkpoints and savepoints go, as a URI. */
    final String location;
    final List<String> jobIds = new ArrayList<>();

    private MiniCluster cluster;
    private JobID jobId;
    private boolean crashed;
    private Map<String, String> renamedUids = Map.of();

    Session(Case testCase, Shape shape, Path directory) {
        this(testCase, shape, "file://" + directory);
    }

    Session(Case testCase, Shape shape, String location) {
        this.testCase = testCase;
        this.shape = shape;
        this.location = location;
    }

    /** Starts the job of the case from nothing. */
    void start() throws Exception {
        start(shape.parallelism, Settings.empty());
    }

    /** Starts the job, with settings that go beyond those of the case. */
    void start(int parallelism, Settings more) throws Exception {
        Gate.reset();
        Settings settings =
                Settings.defaults().directory(location).with(testCase.settings).with(more);
        Configuration configuration = Configuration.fromMap(resolve(settings.asMap()));
        FileSystem.initialize(configuration, null);

        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(parallelism)
                                .build());
        cluster.start();

        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(parallelism);
        env.setMaxParallelism(shape.maxParallelism);
        testCase.job.build(env, shape);

        StreamGraph streamGraph = env.getStreamGraph();
        renameUids(streamGraph);
        JobGraph jobGraph = streamGraph.getJobGraph();
        jobId = nextJobId();
        jobGraph.setJobID(jobId);
        jobGraph.setSavepointRestoreSettings(SavepointRestoreSettings.fromConfiguration(configuration));
        cluster.submitJob(jobGraph).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        jobIds.add(jobId.toHexString());
        await("all tasks run", this::allTasksRun);
    }

    /** Gives operators of the jobs that start from now on other uids: old uid to new uid. */
    void renameUids(Map<String, String> renamed) {
        renamedUids = renamed;
    }

    private void renameUids(StreamGraph streamGraph) {
        Set<String> missing = new TreeSet<>(renamedUids.keySet());
        for (StreamNode node : streamGraph.getStreamNodes()) {
            String uid = node.getTransformationUID();
            // An immutable map does not even look for null.
            String renamed = uid == null ? null : renamedUids.get(uid);
            if (renamed != null) {
                missing.remove(uid);
                Uids.set(node, renamed);
            }
        }
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("The job has no operators with the uids " + missing);
        }
    }

    /** Settings may refer to the directory of the case. */
    private Map<String, String> resolve(Map<String, String> settings) {
        settings.replaceAll((name, value) -> value.replace("${directory}", location));
        return settings;
    }

    /** Job ids are a function of the case, so that a directory can be generated again. */
    private JobID nextJobId() throws Exception {
        String text = FlinkVersion.current() + "/" + testCase.name + "/" + shape.seed + "/" + jobIds.size();
        byte[] digest = MessageDigest.getInstance("MD5").digest(text.getBytes(StandardCharsets.UTF_8));
        return new JobID(digest);
    }

    /** Lets every split emit the usual number of records, and waits until it has. */
    void advance() throws Exception {
        advance(shape.step);
    }

    void advance(int records) throws Exception {
        long limit = Gate.positions().values().stream().mapToLong(Long::longValue).max().orElse(0) + records;
        Gate.raiseTo(limit);
        await(
                "the sources reach " + limit,
                () -> {
                    Map<String, Long> positions = Gate.positions();
                    return !positions.isEmpty() && positions.containsValue(limit) && allSettled(limit);
                });
    }

    /** Splits that end earlier stop below the limit; all others must reach it. */
    private boolean allSettled(long limit) throws InterruptedException {
        Map<String, Long> before = Gate.positions();
        Thread.sleep(50);
        return before.equals(Gate.positions());
    }

    /** Lets the sources run into the backpressure of slow operators. */
    void advanceIntoBackpressure(long limit) throws Exception {
        Gate.slow = true;
        Gate.raiseTo(limit);
        Thread.sleep(1500);
    }

    String checkpoint() throws Exception {
        return cluster.triggerCheckpoint(jobId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    String savepoint(SavepointFormatType format) throws Exception {
        return cluster.triggerSavepoint(jobId, location, false, format)
                .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    String stopWithSavepoint(SavepointFormatType format) throws Exception {
        String pointer =
                cluster.stopWithSavepoint(jobId, location, false, format)
                        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        cluster.close();
        cluster = null;
        return pointer;
    }

    /** Triggers a checkpoint that never completes, and returns once its files are written. */
    void beginStuckCheckpoint(long checkpointId) throws Exception {
        Gate.stuckCheckpoint = checkpointId;
        cluster.triggerCheckpoint(jobId);
        Thread.sleep(3000);
    }

    void awaitFinishedTasks(long tasks) throws Exception {
        await(
                tasks + " tasks have finished",
                () -> taskStates().stream().filter(s -> s == ExecutionState.FINISHED).count() >= tasks);
    }

    /** Cancels the job and stops the cluster; retained checkpoints stay. */
    void cancel() throws Exception {
        Gate.slow = false;
        cluster.cancelJob(jobId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        cluster.requestJobResult(jobId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        cluster.close();
        cluster = null;
    }

    /** Leaves everything as it is: the JVM is to be halted. */
    void crash() {
        crashed = true;
    }

    boolean hasCrashed() {
        return crashed;
    }

    void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.call()) {
            failIfJobFailed();
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Timed out waiting until " + what);
            }
            Thread.sleep(20);
        }
        failIfJobFailed();
    }

    private void failIfJobFailed() throws Exception {
        AccessExecutionGraph graph = cluster.getExecutionGraph(jobId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        JobStatus status = graph.getState();
        if (status == JobStatus.FAILED || status == JobStatus.FAILING) {
            String cause = graph.getFailureInfo() == null ? "" : graph.getFailureInfo().getExceptionAsString();
            throw new IllegalStateException("The job failed: " + cause);
        }
    }

    /** A job that is still being set up has no tasks at all. */
    private boolean allTasksRun() throws Exception {
        List<ExecutionState> states = taskStates();
        return !states.isEmpty()
                && states.stream()
                        .allMatch(s -> s == ExecutionState.RUNNING || s == ExecutionState.FINISHED);
    }

    private List<ExecutionState> taskStates() throws Exception {
        AccessExecutionGraph graph = cluster.getExecutionGraph(jobId).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        List<ExecutionState> states = new ArrayList<>();
        for (AccessExecutionVertex vertex : graph.getAllExecutionVertices()) {
            states.add(vertex.getExecutionState());
        }
        return states;
    }

    @Override
    public void close() throws Exception {
        if (cluster != null && !crashed) {
            cluster.close();
        }
    }
}
