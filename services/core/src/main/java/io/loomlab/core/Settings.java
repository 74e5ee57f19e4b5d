package io.loomlab.core;

import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * What every approach is told, from its environment. Only the ports have defaults, so that a
 * forgotten variable cannot become a difference between two approaches.
 *
 * @param platformThreads most worker threads of a server that uses platform threads
 * @param backendConnections most connections to the backend, in all and per route
 * @param maxConnections most inbound connections, where the server has such a limit
 * @param backlog listen backlog asked for; the kernel cuts it to {@code net.core.somaxconn}
 * @param poolTimeout longest wait for a connection to the backend
 * @param keepAlive how long an idle connection is kept, inbound and outbound
 * @param httpClient backend client of the blocking approaches
 * @param saveMovies whether POST /movies stores what it reads
 */
public record Settings(
    Approach approach,
    URI backendUrl,
    int platformThreads,
    int backendConnections,
    int maxConnections,
    int backlog,
    Duration connectTimeout,
    Duration responseTimeout,
    Duration poolTimeout,
    Duration keepAlive,
    Client httpClient,
    boolean saveMovies,
    int port,
    int managementPort) {

  /** Backend clients that block their caller; DEFAULT is the approach's own. */
  public enum Client {
    DEFAULT,
    APACHE,
    JDK,
    REACTOR
  }

  /**
   * Reads the {@code LAB_*} variables.
   *
   * @throws UsageException at the first one that is missing or unusable
   */
  public static Settings from(Map<String, String> variables) {
    Environment environment = new Environment(variables);
    return new Settings(
        new Approach(
            environment.text("LAB_APPROACH"),
            environment.oneOf("LAB_CONCURRENCY", Approach.Concurrency.class)),
        environment.httpOrigin("LAB_BACKEND_URL"),
        environment.positive("LAB_PLATFORM_THREADS"),
        environment.positive("LAB_BACKEND_CONNECTIONS"),
        environment.positive("LAB_MAX_CONNECTIONS"),
        environment.positive("LAB_BACKLOG"),
        environment.millis("LAB_CONNECT_TIMEOUT_MS", 1),
        environment.millis("LAB_RESPONSE_TIMEOUT_MS", 1),
        environment.millis("LAB_POOL_TIMEOUT_MS", 1),
        environment.millis("LAB_KEEP_ALIVE_MS", 1),
        environment.oneOf("LAB_HTTP_CLIENT", Client.class),
        environment.flag("LAB_SAVE_MOVIES"),
        environment.port("LAB_PORT", 8080),
        environment.port("LAB_MANAGEMENT_PORT", 8081));
  }
}
