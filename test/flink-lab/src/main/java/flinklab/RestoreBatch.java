package flinklab;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Many restores in one JVM, one after the other.
 *
 * <pre>restore-batch &lt; REQUESTS</pre>
 *
 * <p>Every line of the standard input is a {@link RestoreRequest} as JSON, and is answered by one line: the verdict
 * of {@link Restore}, with the {@code id} of the request. The exit status is 1 if any is not ok.
 */
public final class RestoreBatch {

    private RestoreBatch() {}

    public static void main(String[] args) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, String> checkpoints = new HashMap<>();
        boolean ok = true;
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.isBlank()) {
                Map<String, Object> verdict = answer(line, checkpoints);
                System.out.println(Json.compact(verdict));
                System.out.flush();
                ok &= verdict.get("ok").equals(true);
            }
        }
        Exit.now(ok ? 0 : 1);
    }

    private static Map<String, Object> answer(String line, Map<String, String> checkpoints) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            RestoreRequest request = RestoreRequest.parse(line);
            answer.put("id", request.id);
            if (request.from.startsWith("@")) {
                String pointer = checkpoints.get(request.from.substring(1));
                if (pointer == null) {
                    throw new IllegalArgumentException("No checkpoint was taken by the request " + request.from);
                }
                request.from = pointer;
            }
            answer.putAll(Restore.restore(request));
            Object pointers = answer.get("pointers");
            if (pointers != null && request.id != null) {
                int number = 0;
                for (Object pointer : (List<?>) pointers) {
                    checkpoints.put(request.id, pointer.toString());
                    checkpoints.put(request.id + "#" + ++number, pointer.toString());
                }
            }
        } catch (Throwable e) { // a restore that breaks must not take the others with it
            answer.put("error", e.toString());
            answer.put("ok", false);
        }
        return answer;
    }
}
