import java.io.ByteArrayInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.checkpoint.metadata.MetadataSerializer;
import org.apache.flink.runtime.checkpoint.metadata.MetadataSerializers;

/**
 * Reads metadata with Flink's loader and writes it in another version with Flink's own serializers. Each line of the
 * standard input has a version, a checkpoint directory and a file to write, with tabs between; each line of the output
 * says "written", or why Flink cannot write that metadata in that version.
 */
public final class RewriteMetadata {

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t");
            System.out.println(rewrite(Integer.parseInt(parts[0]), Path.of(parts[1]), Path.of(parts[2])));
        }
    }

    private static String rewrite(int version, Path directory, Path target) throws Exception {
        byte[] bytes = Files.readAllBytes(directory.resolve("_metadata"));
        CheckpointMetadata metadata =
                Checkpoints.loadCheckpointMetadata(
                        new DataInputStream(new ByteArrayInputStream(bytes)),
                        RewriteMetadata.class.getClassLoader(),
                        "file:" + directory);
        MetadataSerializer serializer = MetadataSerializers.getSerializer(version);
        // Only the newest serializer writes in public, but the code of all of them is there.
        Method method = method(serializer.getClass(), version == 2 ? "serializeMetadata" : "serialize");
        try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(target))) {
            out.writeInt(Checkpoints.HEADER_MAGIC_NUMBER);
            out.writeInt(version);
            method.invoke(serializer, metadata, out);
            return "written";
        } catch (InvocationTargetException e) {
            return String.valueOf(e.getCause());
        }
    }

    private static Method method(Class<?> type, String name) throws NoSuchMethodException {
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                Class<?>[] parameters = method.getParameterTypes();
                if (method.getName().equals(name)
                        && parameters.length == 2
                        && parameters[0] == CheckpointMetadata.class
                        && parameters[1] == DataOutputStream.class) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        throw new NoSuchMethodException(type + "." + name);
    }
}
