package io.loomlab.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.loomlab.clients.FaultyBackend.Fault;
import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Execution(ExecutionMode.CONCURRENT)
@ParameterizedClass
@EnumSource(value = Settings.Client.class, mode = EnumSource.Mode.EXCLUDE, names = "DEFAULT")
class BlockingClientTest {
  private static final int CONNECTIONS = 3;
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(2_001);
  private static final Duration RESPONSE_TIMEOUT = Duration.ofMillis(3_502);
  private static final Duration POOL_TIMEOUT = Duration.ofMillis(2_003);
  private static final Duration KEEP_ALIVE = Duration.ofMillis(60_000);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Parameter Settings.Client kind;

  private FaultyBackend faulty;
  private BlockingClient client;

  @BeforeEach
  void start() throws IOException {
    faulty = new FaultyBackend();
    client = client(faulty.port());
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    faulty.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"FINE", "CHUNKED", "IN_PARTS"})
  void bodiesAreReadToTheirEndAndConnectionsAreKept(Fault fault) {
    faulty.commit(fault);
    for (int i = 0; i < 50; i++) {
      assertThat(client.get("/more?id=1")).isEqualTo("fine");
    }
    assertThat(faulty.connections()).isLessThanOrEqualTo(CONNECTIONS);
    assertThat(faulty.lastHead()).startsWith("GET /more?id=1 HTTP/1.1\r\n");
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SILENCE", "STALLED", "FINE", "CHUNKED", "IN_PARTS"})
  void unusableAnswerIsABadGatewayAfterOneAttempt(Fault fault) {
    faulty.commit(Fault.FINE);
    client.get("/connects");
    faulty.commit(fault);
    assertFails(client, 502);
    assertThat(faulty.requests()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"SERVER_ERROR", "UNAVAILABLE", "NOT_FOUND", "REDIRECT", "CREATED"})
  void answerOfAnotherStatusKeepsItsConnection(Fault fault) {
    faulty.commit(fault);
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
      assertFails(client, 502);
    }
    // Reactor Netty answers before the connection is free again.
    assertThat(faulty.connections()).isLessThanOrEqualTo(CONNECTIONS);
  }

  @ParameterizedTest
  @EnumSource(names = {"SILENCE", "STALLED"})
  void silenceIsATimeoutAfterOneAttemptAndEndsTheConnection(Fault fault) throws Exception {
    faulty.commit(fault);
    long started = System.nanoTime();
    assertFails(client, 504);
    assertThat(millisSince(started)).isBetween(RESPONSE_TIMEOUT.toMillis(), PATIENCE.toMillis());
    assertThat(faulty.requests()).isEqualTo(1);
    assertThat(faulty.isLeftWithin(PATIENCE)).isTrue();
  }

  @Test
  void noFreeConnectionInTimeIsATimeout() throws Exception {
    faulty.commit(Fault.SILENCE);
    try (BlockingClient patient = client(faulty.port(), CONNECT_TIMEOUT, PATIENCE);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> holders = callOften(callers, patient, CONNECTIONS, 502);
      faulty.awaitRequests(CONNECTIONS);
      for (Future<?> failure : callOften(callers, patient, 2, 504)) {
        failure.get();
      }
      assertThat(faulty.requests()).isEqualTo(CONNECTIONS);
      faulty.close();
      for (Future<?> failure : holders) {
        failure.get();
      }
    }
  }

  @Test
  void connectionThatIsNotAcceptedIsATimeout() throws Exception {
    try (ServerSocket full = new ServerSocket(0, 1);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
        BlockingClient unlucky = client(full.getLocalPort())) {
      for (Future<?> failure : callOften(callers, unlucky, CONNECTIONS, 504)) {
        failure.get();
      }
    }
  }

  @Test
  void aTimeOutOfZeroIsNone() {
    faulty.commit(Fault.IN_PARTS);
    try (BlockingClient patient = client(faulty.port(), Duration.ZERO, Duration.ZERO)) {
      assertThat(patient.get("/any")).isEqualTo("fine");
      assertThat(patient.about())
          .extracting(About.Outbound::connectTimeoutMs, About.Outbound::responseTimeoutMs)
          .containsExactly(0L, 0L);
    }
  }

  @Test
  void tellsItsLimits() {
    assertThat(client.about())
        .extracting(
            About.Outbound::maxConnections,
            About.Outbound::maxConnectionsPerRoute,
            About.Outbound::connectTimeoutMs,
            About.Outbound::responseTimeoutMs,
            About.Outbound::poolTimeoutMs,
            About.Outbound::keepAliveMs)
        .containsExactly(CONNECTIONS, CONNECTIONS, 2_001L, 3_502L, 2_003L, 60_000L);
  }

  @Test
  void tellsWhatIsItsOwn() {
    About.Outbound about = client.about();
    assertThat(about.client()).contains(kind.name().toLowerCase(Locale.ROOT));
    assertThat(about.version()).isNotEmpty();
    assertThat(about.poolPolicy())
        .isEqualTo(
            switch (kind) {
              case JDK -> "longest idle first, one lock";
              case REACTOR -> "last used first, no lock";
              default -> "last used first, one lock";
            });
    Integer loops =
        switch (kind) {
          case JDK -> 1;
          case REACTOR -> Math.max(4, Runtime.getRuntime().availableProcessors());
          default -> null;
        };
    assertThat(about.eventLoops()).isEqualTo(loops);
    Set<String> internals =
        switch (kind) {
          case JDK -> Set.of("executor");
          case REACTOR -> Set.of("allocator", "leak_detection", "unsafe");
          default -> Set.of();
        };
    assertThat(about.internals().keySet()).isEqualTo(internals);
    if (kind == Settings.Client.JDK) {
      assertThat(about.internals()).containsEntry("executor", "a virtual thread per task");
    }
  }

  private static List<Future<?>> callOften(
      ExecutorService callers, BlockingClient called, int times, int status) {
    List<Future<?>> failures = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      failures.add(callers.submit(() -> assertFails(called, status)));
    }
    return failures;
  }

  private BlockingClient client(int port) {
    return client(port, CONNECT_TIMEOUT, RESPONSE_TIMEOUT);
  }

  private BlockingClient client(int port, Duration connectTimeout, Duration responseTimeout) {
    return BlockingClient.of(
        new Settings(
            new Approach("tomcat-virtual", Approach.Concurrency.VIRTUAL_THREADS),
            URI.create("http://localhost:" + port),
            1,
            CONNECTIONS,
            1,
            1,
            connectTimeout,
            responseTimeout,
            POOL_TIMEOUT,
            KEEP_ALIVE,
            kind,
            Settings.Style.LEAN,
            0,
            false,
            null,
            0,
            0));
  }

  private static void assertFails(BlockingClient client, int status) {
    BackendException failure =
        catchThrowableOfType(BackendException.class, () -> client.get("/any"));
    assertThat(failure).isNotNull();
    assertThat(failure.problem().status()).as("%s", failure).isEqualTo(status);
  }

  private static long millisSince(long started) {
    return (System.nanoTime() - started) / 1_000_000;
  }
}
