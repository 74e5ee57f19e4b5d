package io.loomlab.backend;

import io.loomlab.contract.Environment;
import io.loomlab.contract.UsageException;
import java.time.Duration;
import java.util.Map;

/**
 * What the backend is told, from its environment.
 *
 * @param delay how long every answer takes, unless the path says otherwise
 * @param loops event loops, by default one per processor
 * @param maxConnections connections beyond this wait in the backlog
 */
public record BackendSettings(
    Duration delay, int loops, int maxConnections, int backlog, int port, int managementPort) {

  /**
   * Reads {@code BACKEND_*} and {@code LAB_*} variables.
   *
   * @throws UsageException at the first one that is missing or unusable
   */
  public static BackendSettings from(Map<String, String> variables) {
    Environment environment = new Environment(variables);
    return new BackendSettings(
        environment.millis("BACKEND_DELAY_MS", 0),
        environment.positive("BACKEND_LOOPS", Runtime.getRuntime().availableProcessors()),
        environment.positive("LAB_MAX_CONNECTIONS"),
        environment.positive("LAB_BACKLOG"),
        environment.port("LAB_PORT", 8080),
        environment.port("LAB_MANAGEMENT_PORT", 8081));
  }
}
