package io.loomlab.contract.tests;

import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import java.net.URI;
import java.time.Duration;

/** Settings of an approach under test: any free ports, small values. */
final class TestSettings {
  static final Duration KEEP_ALIVE = Duration.ofSeconds(60);

  private static final int PLATFORM_THREADS = 31;
  private static final int BACKEND_CONNECTIONS = 3;
  private static final int MAX_CONNECTIONS = 777;
  private static final int BACKLOG = 99;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(4);
  private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(15);
  private static final Duration POOL_TIMEOUT = Duration.ofSeconds(20);

  private TestSettings() {}

  static Settings of(Approach approach, Settings.Style style, int backendPort, Duration keepAlive) {
    return new Settings(
        approach,
        URI.create("http://localhost:" + backendPort),
        PLATFORM_THREADS,
        BACKEND_CONNECTIONS,
        MAX_CONNECTIONS,
        BACKLOG,
        CONNECT_TIMEOUT,
        RESPONSE_TIMEOUT,
        POOL_TIMEOUT,
        keepAlive,
        Settings.Client.DEFAULT,
        style,
        0,
        false,
        null,
        0,
        0);
  }
}
