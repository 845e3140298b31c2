import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.CheckpointMetadataOutputStream;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStorageLocation;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStorageAccess;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.runtime.state.memory.MemoryBackendCheckpointStorageAccess;

/**
 * Makes a fixed series of calls on Flink's checkpoint storages, in an empty directory, and prints after each what it gave and
 * what is on disk. The test beside it makes the same calls on ours.
 */
public final class StorageCalls {

    private static final JobID JOB = JobID.fromHexString("ac2b9833d8854441eaabf09eca054206");
    private static final int LIMIT = 100;
    private static String root;
    private static String part;

    private interface Call {
        Object run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        for (boolean subdirectory : new boolean[] {true, false}) {
            root = args[0] + "/files-" + subdirectory;
            part = "files " + subdirectory;
            Path base = new Path("file:" + root + "/cp");
            Path savepoints = subdirectory ? new Path("file:" + root + "/sp") : null;
            storage(new FsCheckpointStorageAccess(base, savepoints, subdirectory, JOB, LIMIT, 4096));
        }
        for (String kind : new String[] {"files", "nothing"}) {
            root = args[0] + "/memory-" + kind;
            part = "memory " + kind;
            Path base = kind.equals("files") ? new Path("file:" + root + "/cp") : null;
            Path savepoints = new Path("file:" + root + "/sp");
            storage(new MemoryBackendCheckpointStorageAccess(JOB, base, savepoints, true, LIMIT));
        }
        part = "reference";
        for (String hex : args[1].split(",")) {
            call(hex, () -> AbstractFsCheckpointStorageAccess.decodePathFromReference(
                    new CheckpointStorageLocationReference(bytes(hex))));
        }
        part = "pointer";
        for (int i = 2; i < args.length; i++) {
            String pointer = args[i];
            call(pointer, () -> {
                CompletedCheckpointStorageLocation location =
                        AbstractFsCheckpointStorageAccess.resolveCheckpointPointer(pointer);
                return location.getExternalPointer() + " " + describe(location.getMetadataHandle());
            });
        }
    }

    private static void storage(CheckpointStorageAccess storage) throws Exception {
        call("highly available", storage::supportsHighlyAvailableStorage);
        call("default", storage::hasDefaultSavepointLocation);
        call("base", () -> {
            storage.initializeBaseLocationsForCheckpoint();
            return null;
        });
        for (long id : new long[] {0, 7, 7, Long.MAX_VALUE, -1}) {
            call("checkpoint " + id, () -> storage.initializeLocationForCheckpoint(id).getLocationReference());
        }
        CheckpointStorageLocation location = storage.initializeLocationForCheckpoint(8);
        location(storage, 8, location);
        call("owned", () -> write(storage.createTaskOwnedStateStream(), 3));
        call("owned large", () -> write(storage.createTaskOwnedStateStream(), LIMIT + 1));
        CheckpointStorageLocation failed = storage.initializeLocationForCheckpoint(9);
        call("state of a failed one", () -> write(failed, CheckpointedStateScope.EXCLUSIVE, 5000));
        call("failure", () -> {
            failed.disposeOnFailure();
            return null;
        });
        call("failure again", () -> {
            failed.disposeOnFailure();
            return null;
        });
        for (String target : new String[] {"file:" + root + "/given/deep", root + "/plain", "", "nosuch://a/b"}) {
            call("savepoint at " + target, () -> text(storage.initializeLocationForSavepoint(1, target).getLocationReference()));
        }
        call("savepoint", () -> text(storage.initializeLocationForSavepoint(1, null).getLocationReference()));
        CheckpointStorageLocation savepoint = storage.initializeLocationForSavepoint(2, "file:" + root + "/filled");
        location(storage, 2, savepoint);
    }

    private static void location(CheckpointStorageAccess storage, long id, CheckpointStorageLocation location)
            throws Exception {
        CheckpointStreamFactory streams = storage.resolveCheckpointStorageLocation(id, location.getLocationReference());
        for (CheckpointedStateScope scope : CheckpointedStateScope.values()) {
            for (int size : new int[] {-1, 0, 1, LIMIT, LIMIT + 1, 5000}) {
                call(scope + " " + size, () -> write(streams, scope, size));
            }
            call(scope + " dropped", () -> {
                CheckpointStateOutputStream stream = streams.createCheckpointStateOutputStream(scope);
                stream.write(new byte[5000]);
                stream.close();
                return stream.closeAndGetHandle();
            });
            call(scope + " twice", () -> {
                CheckpointStateOutputStream stream = streams.createCheckpointStateOutputStream(scope);
                stream.write(new byte[1]);
                stream.closeAndGetHandle();
                return stream.closeAndGetHandle();
            });
            call(scope + " nothing twice", () -> {
                CheckpointStateOutputStream stream = streams.createCheckpointStateOutputStream(scope);
                stream.closeAndGetHandle();
                return stream.closeAndGetHandle();
            });
        }
        call("metadata dropped", () -> {
            CheckpointMetadataOutputStream stream = location.createMetadataOutputStream();
            stream.write(new byte[3]);
            stream.close();
            return stream.closeAndFinalizeCheckpoint();
        });
        CompletedCheckpointStorageLocation[] completed = new CompletedCheckpointStorageLocation[1];
        call("metadata", () -> {
            CheckpointMetadataOutputStream stream = location.createMetadataOutputStream();
            stream.write(new byte[3]);
            completed[0] = stream.closeAndFinalizeCheckpoint();
            return completed[0].getExternalPointer() + " " + describe(completed[0].getMetadataHandle());
        });
        call("metadata again", () -> location.createMetadataOutputStream().closeAndFinalizeCheckpoint().getExternalPointer());
        call("dispose", () -> {
            completed[0].disposeStorageLocation();
            return null;
        });
        call("dispose of everything", () -> {
            location.disposeOnFailure();
            completed[0].disposeStorageLocation();
            return null;
        });
    }

    private static Object write(CheckpointStreamFactory streams, CheckpointedStateScope scope, int size) throws Exception {
        return write(streams.createCheckpointStateOutputStream(scope), size);
    }

    private static Object write(CheckpointStateOutputStream stream, int size) throws Exception {
        if (size >= 0) {
            stream.write(new byte[size]);
        }
        return describe(stream.closeAndGetHandle());
    }

    private static String describe(StreamStateHandle handle) {
        if (handle instanceof RelativeFileStateHandle) {
            RelativeFileStateHandle file = (RelativeFileStateHandle) handle;
            return "relative " + file.getRelativePath() + " " + file.getStateSize();
        }
        if (handle instanceof FileStateHandle) {
            FileStateHandle file = (FileStateHandle) handle;
            return "file " + file.getFilePath() + " " + file.getStateSize();
        }
        if (handle instanceof ByteStreamStateHandle) {
            return "bytes " + ((ByteStreamStateHandle) handle).getHandleName() + " " + handle.getStateSize();
        }
        return String.valueOf(handle);
    }

    /** A reference as text: the path in it is easier to compare than its bytes. */
    private static String text(CheckpointStorageLocationReference reference) {
        if (reference.isDefaultReference()) {
            return reference.toString();
        }
        byte[] bytes = reference.getReferenceBytes();
        return reference.toString().substring(0, 8) + new String(bytes, 4, bytes.length - 4, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    private static void call(String name, Call call) throws Exception {
        Object result;
        try {
            result = call.run();
        } catch (Exception e) {
            result = "error";
        }
        System.out.println(part + ", " + name + "\t" + result + "\t" + String.join("\t", tree()));
    }

    private static TreeSet<String> tree() throws Exception {
        TreeSet<String> names = new TreeSet<>();
        java.nio.file.Path directory = Paths.get(root);
        if (Files.exists(directory)) {
            try (Stream<java.nio.file.Path> all = Files.walk(directory)) {
                all.filter(path -> !path.equals(directory)).forEach(
                        path -> names.add(directory.relativize(path) + (Files.isDirectory(path) ? "/" : "")));
            }
        }
        return names;
    }
}
