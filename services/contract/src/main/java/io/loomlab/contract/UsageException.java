package io.loomlab.contract;

/** The user asked for something that cannot be: one sentence with the value and the cure. */
public final class UsageException extends RuntimeException {
  public static final int EXIT_CODE = 2;

  public UsageException(String sentence) {
    super(sentence, null, false, false);
  }

  /** Runs a program's start; a usage error ends the process with its sentence and exit code 2. */
  public static void exitOnUsageError(Runnable start) {
    try {
      start.run();
    } catch (UsageException e) {
      System.err.println(e.getMessage());
      System.exit(EXIT_CODE);
    }
  }
}
