package io.loomlab.core.settings;

import java.io.IOException;

/** The user asked for something that cannot be: one sentence with the value and the cure. */
public final class UsageException extends RuntimeException {
  public static final int EXIT_CODE = 2;

  /** Binds a process's ports and serves. */
  @FunctionalInterface
  public interface Start {
    void run() throws IOException;
  }

  public UsageException(String sentence) {
    super(sentence, null, false, false);
  }

  /**
   * Runs a program's start; a wrong setting or a port that cannot be bound ends the process with
   * one sentence and exit code 2.
   */
  public static void exitOnUsageError(Start start) {
    // Without Spring nothing logs by SLF4J, and it would announce that at every start.
    System.setProperty("slf4j.internal.verbosity", "ERROR");
    try {
      start.run();
    } catch (UsageException e) {
      exit(e.getMessage());
    } catch (IOException e) {
      exit(
          "A port cannot be bound (%s); free ports %d and %d."
              .formatted(e.getMessage(), Settings.PORT, Settings.MANAGEMENT_PORT));
    }
  }

  private static void exit(String sentence) {
    System.err.println(sentence);
    System.exit(EXIT_CODE);
  }
}
