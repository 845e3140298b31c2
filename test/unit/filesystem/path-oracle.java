// Fills in path-oracle.jsonl: what Flink's own Path makes of strings. A line starts as {"string": …} or
// {"pair": [parent, child]}; this adds the answers. To add cases, add such lines and run (Java 17, Flink 2.3.0):
//
//   java -Duser.dir=/cwd/here -cp "<flink-core and its dependencies>" path-oracle.java path-oracle.jsonl > new.jsonl
//
// with absolute names of the files. The JSON library is the one that Flink shades. A `printed` of null is an exception.
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.function.Supplier;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonGenerator;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

class PathOracle {
    private static final ObjectMapper JSON =
            new ObjectMapper().configure(JsonGenerator.Feature.ESCAPE_NON_ASCII, true);

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line : Files.readAllLines(java.nio.file.Path.of(arguments[0]))) {
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
    }

    private static ObjectNode answer(JsonNode line) {
        ObjectNode answer = JSON.createObjectNode();
        Path path;
        try {
            if (line.has("pair")) {
                JsonNode pair = line.get("pair");
                answer.set("pair", pair);
                path = new Path(new Path(pair.get(0).asText()), pair.get(1).asText());
            } else {
                answer.set("string", line.get("string"));
                path = new Path(line.get("string").asText());
            }
        } catch (RuntimeException refused) {
            return answer.putNull("printed");
        }
        answer.put("printed", path.toString());
        answer.put("scheme", path.toUri().getScheme());
        answer.put("authority", path.toUri().getAuthority());
        answer.put("path", path.getPath());
        answer.put("name", path.getName());
        answer.put("absolute", path.isAbsolute());
        answer.put("parent", print(path::getParent, "no parent"));
        answer.put("again", print(() -> new Path(path.toString()), ""));
        answer.put("qualified", print(() -> path.makeQualified(LocalFileSystem.getSharedInstance()), ""));
        return answer;
    }

    private static String print(Supplier<Path> make, String ifNull) {
        try {
            Path path = make.get();
            return path == null ? ifNull : path.toString();
        } catch (RuntimeException refused) {
            return null;
        }
    }
}
