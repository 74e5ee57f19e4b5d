package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.assertProblem;
import static io.loomlab.contract.tests.Http.get;
import static io.loomlab.contract.tests.Http.headerNames;
import static io.loomlab.contract.tests.Http.request;
import static io.loomlab.contract.tests.Http.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.backend.Backend;
import io.loomlab.backend.BackendSettings;
import io.loomlab.contract.Approach;
import io.loomlab.contract.Settings;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What every approach does while its backend is well. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class ApproachContract {
  private static final int DELAY_MILLIS = 50;

  private final Approach approach;
  private final String threadKind;
  private Backend backend;
  private Running running;

  /**
   * @param threadKind as {@code /about} names it
   */
  protected ApproachContract(Approach approach, String threadKind) {
    this.approach = approach;
    this.threadKind = threadKind;
  }

  /** Starts the real application. */
  protected abstract Running start(Settings settings);

  @BeforeAll
  void startAll() throws IOException {
    backend =
        Backend.start(new BackendSettings(Duration.ofMillis(DELAY_MILLIS), 1, 1_000, 100, 0, 0));
    running = start(TestSettings.of(approach, backend.port()));
  }

  @AfterAll
  void stopAll() throws IOException {
    running.stop().run();
    backend.close();
  }

  @Test
  void capabilitiesAreTheTextOfThreeBackendCallsInSuccession()
      throws IOException, InterruptedException {
    long started = System.nanoTime();
    HttpResponse<byte[]> response = get(running.port(), "/capabilities");
    assertThat(Duration.ofNanos(System.nanoTime() - started).toMillis())
        .isGreaterThanOrEqualTo(3 * DELAY_MILLIS);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(text(response)).isIn("EVERYTHING", "READ_ONLY");
    assertThat(headerNames(response)).containsExactly("Content-Length", "Content-Type", "Date");
    assertThat(response.headers().firstValue("Content-Type")).contains("text/plain;charset=UTF-8");
    assertThat(response.headers().firstValueAsLong("Content-Length"))
        .hasValue(response.body().length);
  }

  @Test
  void http10ConnectionIsKeptIfAsked() throws IOException {
    assertThat(Http.http10Twice(running.port(), "/capabilities")).contains(" 200");
    assertThat(Http.http10Twice(running.port(), "/nothing")).contains(" 404");
  }

  @Test
  void moreRequestsThanBackendConnectionsQueueForThem() throws InterruptedException {
    int requests = 4 * TestSettings.BACKEND_CONNECTIONS;
    List<Thread> answers = new ArrayList<>();
    Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < requests; i++) {
      answers.add(Thread.ofVirtual().start(() -> statuses.add(status("/capabilities"))));
    }
    for (Thread answer : answers) {
      answer.join();
    }
    assertThat(statuses).hasSize(requests).containsOnly(200);
  }

  @Test
  void unknownPathIsAProblem() throws IOException, InterruptedException {
    assertProblem(get(running.port(), "/nothing"), 404);
    assertProblem(get(running.port(), "/"), 404);
  }

  @Test
  void wrongMethodIsAProblemThatNamesTheRightOne() throws IOException, InterruptedException {
    HttpResponse<byte[]> response = request("POST", running.port(), "/capabilities");
    assertProblem(response, 405);
    assertThat(response.headers().firstValue("Allow")).contains("GET");
  }

  @Test
  void aboutTellsEffectiveValues() throws IOException, InterruptedException {
    JsonNode about = about();
    assertThat(about.at("/approach").asString()).isEqualTo(approach.label());
    assertThat(about.at("/inbound/backlog").asInt()).isEqualTo(TestSettings.BACKLOG);
    assertThat(about.at("/inbound/keep_alive_ms").asLong())
        .isEqualTo(TestSettings.KEEP_ALIVE.toMillis());
    assertThat(about.at("/inbound/max_requests_per_connection").isNull()).isTrue();
    assertThat(about.at("/inbound/tcp_no_delay").asBoolean()).isTrue();
    JsonNode outbound = about.at("/outbound");
    assertThat(outbound.at("/max_connections").asInt()).isEqualTo(TestSettings.BACKEND_CONNECTIONS);
    assertThat(outbound.at("/max_connections_per_route").asInt())
        .isEqualTo(TestSettings.BACKEND_CONNECTIONS);
    assertThat(outbound.at("/max_pending").isNull()).isTrue();
    assertThat(outbound.at("/connect_timeout_ms").asLong())
        .isEqualTo(TestSettings.CONNECT_TIMEOUT.toMillis());
    assertThat(outbound.at("/response_timeout_ms").asLong())
        .isEqualTo(TestSettings.RESPONSE_TIMEOUT.toMillis());
    assertThat(outbound.at("/pool_timeout_ms").asLong())
        .isEqualTo(TestSettings.POOL_TIMEOUT.toMillis());
    assertThat(outbound.at("/keep_alive_ms").asLong())
        .isEqualTo(TestSettings.KEEP_ALIVE.toMillis());
    assertThat(outbound.at("/tcp_no_delay").asBoolean()).isTrue();
    assertThat(outbound.at("/version").asString()).isNotEmpty();
  }

  @Test
  void capabilitiesAreServedByTheKindOfThreadThatTheApproachNames()
      throws IOException, InterruptedException {
    get(running.port(), "/capabilities");
    assertThat(about().at("/thread_kinds").get("/capabilities").asString()).isEqualTo(threadKind);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator/health/liveness", "/actuator/health/readiness"})
  void isAliveAndReady(String path) throws IOException, InterruptedException {
    HttpResponse<byte[]> response = get(running.managementPort(), path);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(text(response)).contains("\"status\":\"UP\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator/env", "/actuator/metrics", "/actuator/heapdump"})
  void managementOffersNothingElse(String path) throws IOException, InterruptedException {
    assertThat(get(running.managementPort(), path).statusCode()).isEqualTo(404);
  }

  @Test
  void metricsTellRequestsAndConnections() throws IOException, InterruptedException {
    get(running.port(), "/capabilities");
    String labels = "{approach=\"" + approach.label() + "\"";
    assertThat(text(get(running.managementPort(), "/actuator/prometheus")))
        .contains(
            "lab_requests_seconds_bucket" + labels + ",endpoint=\"/capabilities\",status=\"200\"")
        .contains("lab_inflight_requests" + labels + "} 0.0")
        .containsPattern("lab_open_connections\\Q" + labels + "\\E} [1-9]")
        .contains("process_cpu_time_ns_total" + labels)
        .contains("jvm_threads_live_threads" + labels)
        .doesNotContain("http_server_requests", "http_client_requests");
  }

  protected JsonNode about() throws IOException, InterruptedException {
    return JsonMapper.shared().readTree(get(running.port(), "/about").body());
  }

  private int status(String path) {
    try {
      return get(running.port(), path).statusCode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
