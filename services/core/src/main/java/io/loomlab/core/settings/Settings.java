package io.loomlab.core.settings;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.stream.Collectors;

/**
 * What every approach is told, from its environment. Nothing has a default, so that a forgotten
 * variable cannot become a difference between two approaches.
 *
 * @param platformThreads most worker threads of a server that uses platform threads
 * @param backendConnections most connections to the backend, in all and per route
 * @param maxConnections most inbound connections, where the server has such a limit
 * @param backlog listen backlog asked for; the kernel cuts it to {@code net.core.somaxconn}
 * @param connectTimeout longest time to connect to the backend, zero without a limit
 * @param responseTimeout longest silence of the backend, zero without a limit
 * @param poolTimeout longest wait for a connection to the backend
 * @param keepAlive how long an idle connection is kept, inbound and outbound
 * @param httpClient backend client of the blocking approaches
 * @param style how the endpoints are written
 * @param limit most requests that are served at once where threads do not bound them; 0: no limit
 * @param saveMovies whether POST /movies stores what it reads
 * @param database null without one
 * @param port {@link #PORT}; only in tests 0, which is any free one
 * @param managementPort {@link #MANAGEMENT_PORT}; in tests 0 as well
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
    Style style,
    int limit,
    boolean saveMovies,
    Database database,
    int port,
    int managementPort) {
  public static final int PORT = 8080;
  public static final int MANAGEMENT_PORT = 8081;

  /** Backend clients that block their caller; DEFAULT is the approach's own. */
  public enum Client {
    DEFAULT,
    APACHE,
    JDK,
    REACTOR
  }

  /** LEAN: as little as the contract needs; IDIOMATIC: as Spring's reference guide writes it. */
  public enum Style {
    LEAN,
    IDIOMATIC
  }

  /**
   * Where the orders are.
   *
   * @param connections most of them to it
   */
  public record Database(
      String user, String password, String host, int port, String name, int connections) {}

  /**
   * Reads the {@code LAB_*} variables.
   *
   * @throws UsageException at the first one that is missing or unusable, or does not go with
   *     another
   */
  public static Settings from(Map<String, String> variables) {
    Settings settings = read(new Environment(variables));
    if (settings.style == Style.IDIOMATIC && settings.httpClient != Client.DEFAULT) {
      throw new UsageException(
          "LAB_HTTP_CLIENT is \"%s\", and in the idiomatic style there is one client an approach; use default."
              .formatted(Names.kebab(settings.httpClient)));
    }
    if (settings.style == Style.IDIOMATIC && settings.limit > 0) {
      throw new UsageException(
          "LAB_LIMIT is \"%d\", and the idiomatic style has no limit; use 0."
              .formatted(settings.limit));
    }
    if (settings.style == Style.IDIOMATIC && settings.database != null) {
      throw new UsageException(
          "LAB_DATABASE_URL is set, and the idiomatic style asks no database; leave it out.");
    }
    return settings;
  }

  /**
   * These settings, provided that the approach is written in their style.
   *
   * @throws UsageException if it is not
   */
  public Settings among(Set<Style> styles) {
    if (!styles.contains(style)) {
      throw new UsageException(
          "LAB_STYLE is \"%s\", which %s does not have; use %s."
              .formatted(
                  Names.kebab(style),
                  approach.label(),
                  styles.stream().map(Names::kebab).collect(Collectors.joining(" or "))));
    }
    return this;
  }

  /** Whether the limit is the approach's own: on platform threads the pool of threads is. */
  public boolean bounds() {
    return limit > 0 && approach.concurrency() != Approach.Concurrency.PLATFORM_THREADS;
  }

  private static Database database(Environment environment) {
    Matcher url = environment.database("LAB_DATABASE_URL");
    return new Database(
        url.group(1),
        url.group(2),
        url.group(3),
        Integer.parseInt(url.group(4)),
        url.group(5),
        environment.positive("LAB_DATABASE_POOL"));
  }

  private static Settings read(Environment environment) {
    return new Settings(
        new Approach(
            environment.text("LAB_APPROACH"),
            environment.oneOf("LAB_CONCURRENCY", Approach.Concurrency.class)),
        environment.httpOrigin("LAB_BACKEND_URL"),
        environment.positive("LAB_PLATFORM_THREADS"),
        environment.positive("LAB_BACKEND_CONNECTIONS"),
        environment.positive("LAB_MAX_CONNECTIONS"),
        environment.positive("LAB_BACKLOG"),
        environment.millis("LAB_CONNECT_TIMEOUT_MS", 0),
        environment.millis("LAB_RESPONSE_TIMEOUT_MS", 0),
        environment.millis("LAB_POOL_TIMEOUT_MS", 1),
        environment.millis("LAB_KEEP_ALIVE_MS", 1),
        environment.oneOf("LAB_HTTP_CLIENT", Client.class),
        environment.oneOf("LAB_STYLE", Style.class),
        environment.count("LAB_LIMIT"),
        environment.flag("LAB_SAVE_MOVIES"),
        environment.optional("LAB_DATABASE_URL").map(url -> database(environment)).orElse(null),
        PORT,
        MANAGEMENT_PORT);
  }
}
