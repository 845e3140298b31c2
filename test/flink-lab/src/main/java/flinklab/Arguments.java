package flinklab;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Command line options of the form {@code --name value}, and flags without a value. */
final class Arguments {

    private static final Set<String> FLAGS = Set.of("--allow-non-restored");

    private final Map<String, List<String>> values = new HashMap<>();
    private final Set<String> flags = new HashSet<>();

    Arguments(String[] args) {
        for (int i = 0; i < args.length; i++) {
            if (FLAGS.contains(args[i])) {
                flags.add(args[i]);
                continue;
            }
            if (!args[i].startsWith("--") || i + 1 == args.length) {
                throw new IllegalArgumentException("Expected --name value, found " + args[i]);
            }
            values.computeIfAbsent(args[i], name -> new ArrayList<>()).add(args[++i]);
        }
    }

    String required(String name) {
        String value = optional(name, null);
        if (value == null) {
            throw new IllegalArgumentException("Missing option " + name);
        }
        return value;
    }

    /** The value of the option, the last one if it is given several times. */
    String optional(String name, String defaultValue) {
        List<String> all = all(name);
        return all.isEmpty() ? defaultValue : all.get(all.size() - 1);
    }

    /** Every value of an option that may be repeated. */
    List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    boolean flag(String name) {
        return flags.contains(name);
    }

    int integer(String name, int defaultValue) {
        return Integer.parseInt(optional(name, String.valueOf(defaultValue)));
    }
}
