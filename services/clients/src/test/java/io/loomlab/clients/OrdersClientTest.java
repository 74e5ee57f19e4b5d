package io.loomlab.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.DatabaseException;
import io.loomlab.core.http.ParsedRequest.FindOrder;
import io.loomlab.core.http.ParsedRequest.OfDatabase;
import io.loomlab.core.metrics.DatabaseMetrics;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Without a database; the conformance suite has one. */
class OrdersClientTest {
  private static final int CONNECTIONS = 3;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration RESPONSE_TIMEOUT = Duration.ofMillis(2500);
  private static final Duration POOL_TIMEOUT = Duration.ofMillis(700);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final DatabaseMetrics metrics = new DatabaseMetrics(registry);

  @Test
  void whoeverIsRefusedHasNoConnection() throws IOException {
    int port;
    try (ServerSocket closed = new ServerSocket(0)) {
      port = closed.getLocalPort();
    }
    assertHaveNoConnection(port);
  }

  @Test
  void whoeverIsNotAnsweredHasNoConnectionInTime() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertHaveNoConnection(silent.getLocalPort());
    }
  }

  @Test
  void bothTellTheSameSettings() {
    Settings settings = settings(1);
    try (JdbcOrders jdbc = new JdbcOrders(settings, metrics);
        R2dbcOrders r2dbc =
            new R2dbcOrders(settings, new DatabaseMetrics(new SimpleMeterRegistry()))) {
      assertThat(settingsOf(jdbc.about())).isEqualTo(settingsOf(r2dbc.about()));
      assertThat(jdbc.about().pool()).matches("HikariCP \\d.*");
      assertThat(jdbc.about().maxConnections()).isEqualTo(CONNECTIONS);
      assertThat(registry.get("lab.database.pending").gauge().value()).isZero();
    }
  }

  private static About.Database settingsOf(About.Database told) {
    return new About.Database(
        null,
        null,
        null,
        told.maxConnections(),
        told.connectTimeoutMs(),
        told.responseTimeoutMs(),
        told.poolTimeoutMs(),
        told.isolation(),
        told.prepareThreshold(),
        null,
        null);
  }

  private void assertHaveNoConnection(int port) {
    Settings settings = settings(port);
    try (JdbcOrders jdbc = new JdbcOrders(settings, metrics)) {
      assertHasNoConnection(jdbc);
    }
    try (R2dbcOrders r2dbc = new R2dbcOrders(settings, metrics)) {
      assertHasNoConnection(asked -> r2dbc.apply(asked).block());
    }
  }

  private static void assertHasNoConnection(Function<OfDatabase, Answer> orders) {
    long started = System.nanoTime();
    DatabaseException failure =
        catchThrowableOfType(DatabaseException.class, () -> orders.apply(new FindOrder(1)));
    assertThat(failure).isNotNull();
    assertThat(failure.problem().status()).as("%s", failure).isEqualTo(503);
    assertThat(Duration.ofNanos(System.nanoTime() - started))
        .isLessThan(POOL_TIMEOUT.plusSeconds(15));
  }

  private static Settings settings(int port) {
    return new Settings(
        new Approach("tomcat-virtual", Approach.Concurrency.VIRTUAL_THREADS),
        URI.create("http://localhost:1"),
        1,
        1,
        1,
        1,
        CONNECT_TIMEOUT,
        RESPONSE_TIMEOUT,
        POOL_TIMEOUT,
        Duration.ofSeconds(60),
        Settings.Client.DEFAULT,
        Settings.Style.LEAN,
        0,
        false,
        new Settings.Database("me", "secret", "localhost", port, "orders", CONNECTIONS),
        0,
        0);
  }
}
