import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.TreeSet;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;

/**
 * Disposes of checkpoints the way `flink savepoint -d` makes a cluster do it. Each line of the input is a directory, the URI
 * where Flink had it, and a pointer, with tabs between. The directory is copied there first. Prints for each line "ok" or
 * "error", how many failures were suppressed, and what is left, with tabs between.
 */
public final class DisposeCheckpoints {

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] fields = line.split("\t");
            Path original = Path.of(URI.create(fields[1]).getPath());
            copy(Path.of(fields[0]), original);
            StringBuilder result = new StringBuilder();
            try {
                Checkpoints.disposeSavepoint(
                        fields[2], new JobManagerCheckpointStorage(), DisposeCheckpoints.class.getClassLoader());
                result.append("ok\t0");
            } catch (Exception e) {
                result.append("error\t").append(e.getSuppressed().length);
            }
            System.out.println(result.append('\t').append(String.join("\t", treeOf(original))));
            delete(original);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
                Files.createDirectory(to.resolve(from.relativize(directory)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.copy(file, to.resolve(from.relativize(file)));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static TreeSet<String> treeOf(Path root) throws IOException {
        TreeSet<String> names = new TreeSet<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                if (!directory.equals(root)) {
                    names.add(root.relativize(directory) + "/");
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                names.add(root.relativize(file).toString());
                return FileVisitResult.CONTINUE;
            }
        });
        return names;
    }

    private static void delete(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
