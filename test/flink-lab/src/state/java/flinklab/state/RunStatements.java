package flinklab.state;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.Temporal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Runs what <code>ckpt sql</code> wrote. Each line of the input is {"id", "language": "sql", "statement", "query"} or {"id",
 * "language": "java", "statement"}; each line of the output is {"id", "rows": [...]}, for SQL by column, for Java the lines
 * that the job printed as JSON; or {"id", "error"}.
 */
public final class RunStatements {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern CLASS_NAME = Pattern.compile("public (?:final )?class (\\w+)");

    private static int jobs;

    private RunStatements() {}

    public static void main(String[] args) throws Exception {
        PrintStream output = System.out;
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode request = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            answer.put("id", request.get("id").asText());
            try {
                boolean sql = request.get("language").asText().equals("sql");
                answer.set("rows", sql ? runSql(request) : runJava(request.get("statement").asText(), output));
            } catch (Throwable e) {
                answer.put("error", causes(e));
            }
            output.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            output.flush();
        }
        // Threads of ForSt may be left.
        Runtime.getRuntime().halt(0);
    }

    private static ArrayNode runSql(JsonNode request) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        TableEnvironment tables =
                TableEnvironment.create(
                        EnvironmentSettings.newInstance().inBatchMode().withConfiguration(configuration).build());
        tables.executeSql(request.get("statement").asText());
        ArrayNode rows = JSON.createArrayNode();
        try (CloseableIterator<Row> results = tables.executeSql(request.get("query").asText()).collect()) {
            while (results.hasNext()) {
                Row row = results.next();
                rows.add(JSON.valueToTree(plain(row)));
            }
        }
        return rows;
    }

    /** A value of SQL as JSON: rows by the names of their fields, 64-bit numbers beyond 2^53 as text, as ckpt has them. */
    private static Object plain(Object value) {
        if (value instanceof Row) {
            Row row = (Row) value;
            Map<String, Object> fields = new TreeMap<>();
            Set<String> names = row.getFieldNames(true);
            if (names == null) {
                throw new IllegalArgumentException("a row without names");
            }
            names.forEach(name -> fields.put(name, plain(row.getField(name))));
            return fields;
        }
        if (value instanceof Map) {
            Map<String, Object> fields = new TreeMap<>();
            ((Map<?, ?>) value).forEach((key, of) -> fields.put(String.valueOf(plain(key)), plain(of)));
            return fields;
        }
        if (value instanceof Object[]) {
            Object[] array = (Object[]) value;
            Object[] result = new Object[array.length];
            for (int i = 0; i < array.length; i++) {
                result[i] = plain(array[i]);
            }
            return result;
        }
        if (value instanceof Long) {
            long number = (Long) value;
            return Math.abs(number) < 1L << 53 && number != Long.MIN_VALUE ? value : value.toString();
        }
        if (value instanceof Double || value instanceof Float) {
            return Double.isFinite(((Number) value).doubleValue()) ? value : value.toString();
        }
        return value instanceof Temporal || value instanceof java.math.BigDecimal ? value.toString() : value;
    }

    /**
     * Compiles a job into the directory of {@code FLINK_LAB_EXTRA_JARS}, which is on the class path (the tasks of a job see no
     * other), under a name of its own, and runs it.
     */
    private static ArrayNode runJava(String source, PrintStream output) throws Exception {
        Matcher name = CLASS_NAME.matcher(source);
        if (!name.find()) {
            throw new IllegalArgumentException("the source has no public class");
        }
        String className = name.group(1) + "Run" + jobs++;
        Path directory = Path.of(System.getenv("FLINK_LAB_EXTRA_JARS"));
        Path file = directory.resolve(className + ".java");
        Files.writeString(file, source.replaceAll("\\b" + name.group(1) + "\\b", className));
        compile(file, directory);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            Class.forName(className).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(output);
        }
        ArrayNode rows = JSON.createArrayNode();
        for (String line : printed.toString(StandardCharsets.UTF_8).split("\n")) {
            if (!line.isEmpty()) {
                rows.add(JSON.readTree(line));
            }
        }
        return rows;
    }

    /** Warnings of the compiler are errors here, too: what is printed is to be a good example. */
    private static void compile(Path file, Path directory) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            Iterable<? extends JavaFileObject> sources = files.getJavaFileObjects(file);
            List<String> options =
                    List.of("-encoding", "UTF-8", "-d", directory.toString(), "-Werror",
                            "-Xlint:unchecked,rawtypes", "-classpath", System.getProperty("java.class.path"));
            if (!compiler.getTask(messages, files, null, options, null, sources).call()) {
                throw new IllegalArgumentException("the source does not compile: " + messages);
            }
        }
    }

    private static String causes(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            text.append(text.length() == 0 ? "" : " <- ").append(cause);
        }
        return text.toString();
    }
}
