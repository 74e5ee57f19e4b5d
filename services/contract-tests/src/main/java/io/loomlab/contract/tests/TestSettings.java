package io.loomlab.contract.tests;

import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import java.net.URI;
import java.time.Duration;

/** Settings of an approach under test: any free ports, small and telling values. */
final class TestSettings {
  static final int PLATFORM_THREADS = 31;
  static final int BACKEND_CONNECTIONS = 3;
  static final int MAX_CONNECTIONS = 777;
  static final int BACKLOG = 99;
  static final Duration CONNECT_TIMEOUT = Duration.ofMillis(4_001);
  static final Duration RESPONSE_TIMEOUT = Duration.ofMillis(15_502);
  static final Duration POOL_TIMEOUT = Duration.ofMillis(20_703);
  static final Duration KEEP_ALIVE = Duration.ofMillis(60_004);

  private TestSettings() {}

  static Settings of(Approach approach, Settings.Style style, int backendPort) {
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
        KEEP_ALIVE,
        Settings.Client.DEFAULT,
        style,
        false,
        0,
        0);
  }
}
