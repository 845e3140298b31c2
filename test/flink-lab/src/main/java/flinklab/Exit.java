package flinklab;

import java.io.IOException;

/** The end of a program that has run jobs. */
final class Exit {

    private static final int PATIENCE_SECONDS = 5;

    private Exit() {}

    /**
     * Ends the JVM at once, whatever jobs have left running. Native threads of ForSt can hold up even a halt, so another
     * process kills this one if it is still there after some seconds; the exit status is then that of a killed process.
     */
    static void now(int status) {
        System.out.flush();
        String kill = "sleep " + PATIENCE_SECONDS + "; kill -KILL " + ProcessHandle.current().pid();
        try {
            new ProcessBuilder("sh", "-c", kill)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            System.err.println("Nothing will kill this process if it hangs: " + e);
        }
        Runtime.getRuntime().halt(status);
    }
}
