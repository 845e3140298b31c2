package flinklab;

import flinklab.jobs.Checks;
import flinklab.oracle.MetadataJson;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs cases on real Flink and leaves their directories in a corpus.
 *
 * <pre>generate --case NAME[,NAME...]|core|all --out DIR [--seed N]</pre>
 *
 * <p>The jobs write to a neutral fixed directory, so that the absolute paths inside the metadata name
 * nothing of the machine; the tree is then moved to DIR/VERSION/CASE.
 */
public final class Generate {

    private static final Path BASE = Path.of("/tmp/flink/checkpoints");

    private final Path out;
    private final Shape shape;
    private final List<String> failed = new ArrayList<>();

    private Generate(Path out, Shape shape) {
        this.out = out;
        this.shape = shape;
    }

    public static void main(String[] args) {
        Arguments arguments = new Arguments(args);
        Generate generate =
                new Generate(
                        Path.of(arguments.required("--out")),
                        Shape.of(arguments.integer("--seed", 0)));
        String names = arguments.required("--case");
        for (Case testCase : select(names)) {
            generate.run(testCase);
        }
        // A crashed job still hangs in a checkpoint: halting is what a crash looks like to Flink.
        Exit.now(generate.failed.isEmpty() ? 0 : 1);
    }

    private static List<Case> select(String names) {
        switch (names) {
            case "all":
                return Cases.supported();
            case "core":
                return Cases.core();
            default:
                return Stream.of(names.split(",")).map(Cases::byName).collect(Collectors.toList());
        }
    }

    private void run(Case testCase) {
        String version = FlinkVersion.current();
        Path directory = BASE.resolve(version).resolve(testCase.name);
        Checks.reset(List.of());
        long start = System.nanoTime();
        try {
            deleteTree(directory);
            Files.createDirectories(directory);
            Session session = new Session(testCase, shape, directory);
            try (session) {
                testCase.script.run(session);
            }
            if (!Checks.failures().isEmpty()) {
                throw new IllegalStateException("The job itself found wrong state: " + Checks.failures());
            }
            describe(session, directory);
            Path target = out.resolve(version).resolve(testCase.name);
            deleteTree(target);
            copyTree(directory, target);
            if (!session.hasCrashed()) {
                deleteTree(directory);
            }
            long millis = (System.nanoTime() - start) / 1_000_000;
            System.out.println("done " + version + " " + testCase.name + " " + millis + " ms");
        } catch (Exception e) {
            failed.add(testCase.name);
            System.out.println("FAILED " + version + " " + testCase.name + ": " + e);
            e.printStackTrace();
        }
    }

    /** Writes case.json and an oracle document for every pointer. */
    private void describe(Session session, Path directory) throws IOException {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("flinkVersion", FlinkVersion.current());
        json.put("case", session.testCase.name);
        json.put("description", session.testCase.description);
        json.put("seed", shape.seed);
        json.put("stateBackend", session.testCase.settings.asMap().get("state.backend.type"));
        json.put("jobIds", session.jobIds);
        json.put("originalDirectory", "file:" + directory);
        json.put("pointers", writeOracles(directory, directory));
        json.put("emptyDirectories", emptyDirectories(directory));
        json.put("settings", session.testCase.settings.asMap());
        Files.writeString(directory.resolve("case.json"), Json.pretty(json));
    }

    /** Writes what Flink reads from every pointer under a directory, and returns the list of pointers. */
    static List<Object> writeOracles(Path directory, Path out) throws IOException {
        List<Object> pointers = new ArrayList<>();
        for (Path metadata : find(directory, "_metadata")) {
            Path pointer = metadata.getParent();
            String relative = directory.relativize(pointer).toString();
            Map<String, Object> document = MetadataJson.document(Files.readAllBytes(metadata), "file:" + pointer);
            String oracleFile = relative.replace('/', '.') + ".oracle.json";
            Files.writeString(out.resolve(oracleFile), Json.pretty(document));

            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("pointer", relative);
            entry.put("oracle", oracleFile);
            entry.put("metadataVersion", document.get("version"));
            entry.put("checkpointId", document.get("checkpointId"));
            entry.put("kind", pointer.getFileName().toString().startsWith("savepoint-") ? "savepoint" : "checkpoint");
            pointers.add(entry);
        }
        return pointers;
    }

    public static List<Path> find(Path directory, String fileName) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(f -> f.getFileName().toString().equals(fileName)).sorted().collect(Collectors.toList());
        }
    }

    /** Version control drops empty directories, so case.json names them. */
    static List<Object> emptyDirectories(Path directory) throws IOException {
        List<Object> empty = new ArrayList<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.filter(Files::isDirectory).sorted().collect(Collectors.toList())) {
                try (Stream<Path> children = Files.list(path)) {
                    if (children.findAny().isEmpty()) {
                        empty.add(directory.relativize(path).toString());
                    }
                }
            }
        }
        return empty;
    }

    static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.collect(Collectors.toList())) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    static void deleteTree(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        Files.walkFileTree(
                directory,
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
                        Files.delete(dir);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
