package io.loomlab.backend;

import io.loomlab.core.settings.Environment;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.UsageException;
import java.util.Map;

/**
 * What the backend is told, from its environment.
 *
 * @param delay how long every answer takes, unless the path says otherwise
 * @param errorShare share of the successes that become failures
 * @param seed of the loops' random numbers; each loop adds its index
 * @param loops event loops: one per processor, but for tests
 * @param maxConnections connections beyond this wait in the backlog
 * @param port {@link Settings#PORT}; only in tests 0, which is any free one
 * @param managementPort {@link Settings#MANAGEMENT_PORT}; in tests 0 as well
 */
public record BackendSettings(
    Delay delay,
    ErrorShare errorShare,
    long seed,
    int loops,
    int maxConnections,
    int backlog,
    int port,
    int managementPort) {
  private static final String ERROR_SHARE = "BACKEND_ERROR_SHARE";
  private static final String SEED = "BACKEND_SEED";
  private static final int DEFAULT_SEED = 1;

  /**
   * Reads {@code BACKEND_*} and {@code LAB_*} variables.
   *
   * @throws UsageException at the first one that is missing or unusable
   */
  public static BackendSettings from(Map<String, String> variables) {
    Environment environment = new Environment(variables);
    return new BackendSettings(
        Delay.parse("BACKEND_DELAY", environment.text("BACKEND_DELAY")),
        ErrorShare.parse(ERROR_SHARE, variables.getOrDefault(ERROR_SHARE, "0")),
        seed(variables.getOrDefault(SEED, "" + DEFAULT_SEED)),
        Runtime.getRuntime().availableProcessors(),
        environment.positive("LAB_MAX_CONNECTIONS"),
        environment.positive("LAB_BACKLOG"),
        Settings.PORT,
        Settings.MANAGEMENT_PORT);
  }

  private static long seed(String text) {
    if (!text.strip().matches("\\d{1,9}")) {
      throw new UsageException(
          "%s is \"%s\"; give a whole number from 0 to 999999999.".formatted(SEED, text));
    }
    return Long.parseLong(text.strip());
  }
}
