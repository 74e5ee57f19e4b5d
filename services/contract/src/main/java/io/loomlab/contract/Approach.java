package io.loomlab.contract;

import java.util.Arrays;
import java.util.stream.Collectors;

/** What is compared: a server together with the concurrency model its handlers run under. */
public enum Approach {
  TOMCAT_PLATFORM(Server.TOMCAT, Concurrency.PLATFORM_THREADS),
  TOMCAT_VIRTUAL(Server.TOMCAT, Concurrency.VIRTUAL_THREADS),
  JETTY_PLATFORM(Server.JETTY, Concurrency.PLATFORM_THREADS),
  JETTY_VIRTUAL(Server.JETTY, Concurrency.VIRTUAL_THREADS),
  WEBFLUX_NETTY(Server.NETTY, Concurrency.REACTIVE),
  VIRTUAL_NETTY(Server.NETTY, Concurrency.VIRTUAL_THREADS),
  MICROHTTP_PLATFORM(Server.MICROHTTP, Concurrency.PLATFORM_THREADS),
  MICROHTTP_VIRTUAL(Server.MICROHTTP, Concurrency.VIRTUAL_THREADS),
  MICROHTTP_ASYNC(Server.MICROHTTP, Concurrency.COMPLETABLE_FUTURE),
  HELIDON_VIRTUAL(Server.HELIDON, Concurrency.VIRTUAL_THREADS);

  /** The server, one Maven module each. */
  public enum Server {
    TOMCAT,
    JETTY,
    NETTY,
    MICROHTTP,
    HELIDON
  }

  /** What a request occupies while it waits. */
  public enum Concurrency {
    PLATFORM_THREADS,
    VIRTUAL_THREADS,
    REACTIVE,
    COMPLETABLE_FUTURE
  }

  private final Server server;
  private final Concurrency concurrency;

  Approach(Server server, Concurrency concurrency) {
    this.server = server;
    this.concurrency = concurrency;
  }

  /**
   * The approach of a public name such as {@code tomcat-virtual}.
   *
   * @throws UsageException if there is none
   */
  public static Approach named(String name) {
    return Arrays.stream(values())
        .filter(approach -> approach.label().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UsageException(
                    "LAB_APPROACH is \"%s\", which is no approach; use one of %s."
                        .formatted(name, names())));
  }

  /** The public name: image, Compose service and metric label. */
  public String label() {
    return Names.kebab(this);
  }

  public Server server() {
    return server;
  }

  public Concurrency concurrency() {
    return concurrency;
  }

  /**
   * This approach, provided that the given server serves it.
   *
   * @throws UsageException if another server does
   */
  public Approach on(Server expected) {
    if (server != expected) {
      throw new UsageException(
          "LAB_APPROACH is \"%s\", which module %s serves, not %s; start that module instead."
              .formatted(label(), Names.kebab(server), Names.kebab(expected)));
    }
    return this;
  }

  private static String names() {
    return Arrays.stream(values()).map(Approach::label).collect(Collectors.joining(", "));
  }
}
