package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Execution(ExecutionMode.CONCURRENT)
class BackendTest {
  private static final int DELAY_MILLIS = 200;

  /** Longer than a busy host keeps an answer that waits for nothing. */
  private static final int SLOW_MILLIS = 30_000;

  private static final int SEED = 1;
  private static final String EVEN = "00000000-0000-4000-8000-00000000000a";
  private static final String ODD = "00000000-0000-4000-8000-00000000000b";

  private Backend backend;
  private Management management;

  @BeforeEach
  void startBackend() throws IOException {
    backend = start(DELAY_MILLIS);
    management = new Management(backend.managementPort());
  }

  @AfterEach
  void stop() throws IOException {
    backend.close();
  }

  @Test
  void authenticationGivesANewTokenEachTime() throws IOException {
    try (RawHttp http = connect()) {
      String first = http.get("/authentication").response().body();
      String second = http.get("/authentication").response().body();
      assertThat(UUID.fromString(first).version()).isEqualTo(4);
      assertThat(UUID.fromString(second)).isNotEqualTo(UUID.fromString(first));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/authorization/" + EVEN + "|ADMIN",
        "/authorization/" + ODD + "|USER",
        "/capabilities/ADMIN|EVERYTHING",
        "/capabilities/USER|READ_ONLY",
        "/authenticate?token=x|{\"userId\":\"abc123\"}",
        "/authorize?id=x|{\"authorities\":[\"get-meetings\"]}",
        "/meetings?id=x|{\"meetings\":[{\"time\":\"now\",\"subject\":\"tech-talk\"}]}"
      })
  void answersAfterTheConfiguredDelay(String target, String body) throws IOException {
    try (RawHttp http = connect()) {
      long started = System.nanoTime();
      RawHttp.Response response = http.get(target).response();
      assertThat(response.status()).isEqualTo(200);
      assertThat(response.body()).isEqualTo(body);
      assertThat(millisSince(started)).isGreaterThanOrEqualTo(DELAY_MILLIS);
    }
  }

  @Test
  void connectionsBeyondTheMostWaitUntilAnotherEnds() throws Exception {
    try (Backend small = start(0, 2);
        RawHttp kept = new RawHttp(small.port()).get("/delay/0")) {
      kept.response();
      RawHttp other = new RawHttp(small.port()).get("/delay/0");
      other.response();
      try (RawHttp third = new RawHttp(small.port()).get("/delay/0")) {
        kept.get("/delay/0.5").response();
        assertThat(new Management(small.managementPort()).metric("backend_connections_total"))
            .isEqualTo(2);
        other.close();
        assertThat(third.response().body()).isEqualTo("0");
      }
    }
  }

  @Test
  void delayOfThePathReplacesTheConfiguredOne() throws IOException {
    try (Backend slow = start(SLOW_MILLIS);
        RawHttp http = new RawHttp(slow.port())) {
      long started = System.nanoTime();
      assertThat(http.get("/delay/0.02").response().body()).isEqualTo("0.02");
      assertThat(millisSince(started)).isBetween(20L, SLOW_MILLIS - 1L);
    }
    try (RawHttp http = connect()) {
      long started = System.nanoTime();
      assertThat(http.get("/delay/0.5").response().body()).isEqualTo("0.5");
      assertThat(millisSince(started)).isGreaterThanOrEqualTo(500);
    }
  }

  @Test
  void longestDelayOfAPathIsAMinute() {
    assertThat(Routes.answer("/delay/60", null).delayNanos()).isEqualTo(60_000_000_000L);
  }

  @ParameterizedTest
  @CsvSource({
    "/nothing, 404",
    "/capabilities/GUEST, 404",
    "/authorization/none, 400",
    "/delay/61, 400",
    "/delay/-1, 400",
    "/delay/soon, 400"
  })
  void errorsAreAnsweredAtOnceAndKeepTheConnection(String target, int status) throws IOException {
    try (Backend slow = start(SLOW_MILLIS);
        RawHttp http = new RawHttp(slow.port())) {
      long started = System.nanoTime();
      assertThat(http.get(target).response().status()).isEqualTo(status);
      assertThat(millisSince(started)).isLessThan(SLOW_MILLIS);
      assertThat(http.get("/delay/0").response().status()).isEqualTo(200);
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    try (RawHttp http = connect()) {
      http.get("/delay/0.2").get("/delay/0.1").get("/nothing").get("/delay/0");
      assertThat(http.response().body()).isEqualTo("0.2");
      assertThat(http.response().body()).isEqualTo("0.1");
      assertThat(http.response().status()).isEqualTo(404);
      assertThat(http.response().body()).isEqualTo("0");
    }
  }

  @Test
  void manyPipelinedRequestsDoNotOverflowAConnection() throws IOException {
    try (RawHttp http = connect()) {
      int requests = 2_000;
      http.send("GET /delay/0.001 HTTP/1.1\r\nHost: b\r\n\r\n".repeat(requests));
      for (int i = 0; i < requests; i++) {
        assertThat(http.response().body()).isEqualTo("0.001");
      }
    }
  }

  @Test
  void requestMayArriveByteByByte() throws IOException {
    try (RawHttp http = connect()) {
      for (char next : "GET /delay/0 HTTP/1.1\r\nHost: b\r\n\r\n".toCharArray()) {
        http.send(String.valueOf(next));
      }
      assertThat(http.response().status()).isEqualTo(200);
    }
  }

  @Test
  void peerThatEndedItsInputStillGetsItsAnswer() throws IOException {
    try (RawHttp http = connect()) {
      http.get("/delay/0.1").endInput();
      assertThat(http.response().body()).isEqualTo("0.1");
      assertThat(http.closedByPeer()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense\r\n\r\n",
        "GET nowhere HTTP/1.1\r\nHost: b\r\n\r\n",
        "GET / HTTP/3.0\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: b\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: b\r\nContent-Length: x\r\n\r\n"
      })
  void malformedRequestIsRefusedAndTheConnectionClosed(String request) throws IOException {
    assertRefused(request, 400);
  }

  @Test
  void bodiesOtherMethodsAndOverlongHeadsAreRefused() throws IOException {
    assertRefused("GET / HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\nabc", 413);
    assertRefused("GET / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413);
    assertRefused("DELETE / HTTP/1.1\r\nHost: b\r\n\r\n", 405);
    assertRefused("GET / HTTP/1.1\r\nHost: b\r\nX: " + "x".repeat(20_000), 431);
  }

  @Test
  void http10KeepsTheConnectionOnlyIfAsked() throws IOException {
    try (RawHttp http = connect()) {
      http.send("GET /delay/0 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
      assertThat(http.response().head()).contains("Connection: keep-alive\r\n");
      http.send("GET /delay/0 HTTP/1.0\r\n\r\n");
      assertThat(http.response().head()).contains("Connection: close\r\n");
      assertThat(http.closedByPeer()).isTrue();
    }
  }

  @Test
  void http11ClosesTheConnectionIfAsked() throws IOException {
    try (RawHttp http = connect()) {
      http.send("GET /delay/0 HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n");
      assertThat(http.response().head()).contains("Connection: close\r\n");
      assertThat(http.closedByPeer()).isTrue();
    }
  }

  @Test
  void thousandConnectionsWaitTogether() throws IOException {
    List<RawHttp> connections = new ArrayList<>();
    try {
      for (int i = 0; i < 1_000; i++) {
        connections.add(connect());
      }
      long started = System.nanoTime();
      for (RawHttp http : connections) {
        http.get("/delay/1");
      }
      for (RawHttp http : connections) {
        assertThat(http.response().body()).isEqualTo("1");
      }
      assertThat(millisSince(started)).isBetween(1_000L, 30_000L);
    } finally {
      for (RawHttp http : connections) {
        http.close();
      }
    }
  }

  @Test
  void metricsTellRequestsLatenessAndLoops() throws IOException, InterruptedException {
    try (RawHttp first = connect()) {
      first.send("GET /delay/0 HTTP/1.0\r\n\r\n").response();
      assertThat(first.closedByPeer()).isTrue();
    }
    try (RawHttp http = connect()) {
      http.get("/capabilities/ADMIN").response();
      http.get("/nothing").response();
      management.awaitRequests(3);
      assertThat(management.get("/actuator/prometheus"))
          .contains("backend_lateness_seconds_bucket{approach=\"backend\",le=\"+Inf\"} 3")
          .contains("backend_lateness_seconds_count{approach=\"backend\"} 3")
          .contains("backend_inflight_requests{approach=\"backend\"} 0.0")
          .contains("backend_open_connections{approach=\"backend\"} 1.0")
          .contains("backend_connections_total{approach=\"backend\"} 2.0")
          .contains("backend_delay_seconds{approach=\"backend\"} 0.2")
          .contains("backend_errors_total{approach=\"backend\"} 0.0")
          .contains("backend_hanging{approach=\"backend\"} 0.0")
          .containsPattern(
              "backend_loop_cpu_seconds_total\\{approach=\"backend\",loop=\"1\"} (0\\.|.*E-)");
    }
  }

  @Test
  void isAliveAndReadyOnceStarted() throws IOException, InterruptedException {
    assertThat(management.get("/actuator/health/liveness")).isEqualTo("{\"status\":\"UP\"}");
    assertThat(management.get("/actuator/health/readiness")).isEqualTo("{\"status\":\"UP\"}");
  }

  private void assertRefused(String request, int status) throws IOException {
    try (RawHttp http = connect()) {
      RawHttp.Response response = http.send(request).response();
      assertThat(response.status()).isEqualTo(status);
      assertThat(response.head()).contains("Connection: close\r\n");
      assertThat(http.closedByPeer()).isTrue();
    }
  }

  private static Backend start(int delayMillis) throws IOException {
    return start(delayMillis, 5_000);
  }

  private static Backend start(int delayMillis, int maxConnections) throws IOException {
    Delay delay = new Delay.Constant(delayMillis);
    return Backend.start(
        new BackendSettings(delay, ErrorShare.NONE, SEED, 2, maxConnections, 2_000, 0, 0));
  }

  private RawHttp connect() throws IOException {
    return new RawHttp(backend.port());
  }

  private static long millisSince(long started) {
    return (System.nanoTime() - started) / 1_000_000;
  }
}
