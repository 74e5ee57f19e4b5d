package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.get;
import static io.loomlab.contract.tests.Http.request;
import static io.loomlab.contract.tests.Http.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.backend.Backend;
import io.loomlab.backend.BackendSettings;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
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

/** An approach that runs beside a backend, and what it tells of itself on its management port. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RunningContract {
  static final int DELAY_MILLIS = 50;

  final Approach approach;
  final Settings.Style style;
  Running running;
  private Backend backend;

  RunningContract(Approach approach, Settings.Style style) {
    this.approach = approach;
    this.style = style;
  }

  /** Starts the real application. */
  protected abstract Running start(Settings settings) throws IOException;

  @BeforeAll
  void startAll() throws IOException {
    backend =
        Backend.start(new BackendSettings(Duration.ofMillis(DELAY_MILLIS), 1, 1_000, 100, 0, 0));
    running = start(TestSettings.of(approach, style, backend.port()));
  }

  @AfterAll
  void stopAll() throws IOException {
    running.stop().run();
    backend.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator/health/liveness", "/actuator/health/readiness"})
  void isAliveAndReady(String path) throws Exception {
    HttpResponse<byte[]> response = get(running.managementPort(), path);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(text(response)).contains("\"status\":\"UP\"");
  }

  @Test
  void memoryIsToldAfterACollectionThatRequestsOutlive() throws Exception {
    Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
    Thread request =
        Thread.ofVirtual().start(() -> statuses.add(status("/epoch-millis?delayInMillis=4000")));
    JsonNode told = memory("GET");
    while (told.get("requests_in_flight").asLong() == 0) {
      told = memory("GET");
    }
    assertThat(told.get("collection_ms").isNull()).isTrue();
    told = memory("POST");
    assertThat(told.get("requests_in_flight").asLong()).isOne();
    for (String member : List.of("heap_used_bytes", "rss_anon_bytes", "threads")) {
      assertThat(told.get(member).asLong()).as(member).isPositive();
    }
    assertThat(told.get("collection_ms").asLong()).isNotNegative();
    request.join();
    assertThat(statuses).containsExactly(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/actuator/env", "/actuator/metrics", "/capabilities"})
  void managementOffersNothingElse(String path) throws Exception {
    assertThat(get(running.managementPort(), path).statusCode()).isEqualTo(404);
  }

  @Test
  void metricsTellRequestsConnectionsAndTheRuntime() throws Exception {
    get(running.port(), "/capabilities");
    get(running.port(), "/meetings");
    String labels = "{approach=\"" + approach.label() + "\"";
    String metrics = metricsAtRest();
    assertThat(metrics)
        .contains(
            "lab_requests_seconds_bucket" + labels + ",endpoint=\"/capabilities\",status=\"200\"")
        .contains("lab_requests_seconds_count" + labels + ",endpoint=\"/meetings\",status=\"401\"")
        .containsPattern("lab_open_connections\\Q" + labels + "\\E} [1-9]")
        .contains("lab_allocated_bytes_total" + labels)
        .contains("lab_gc_cpu_seconds_total" + labels)
        .contains("lab_jit_cpu_seconds_total" + labels)
        .contains("jvm_threads_virtual_pinned_seconds_count" + labels)
        .contains("process_cpu_time_ns_total" + labels);
    if (style == Settings.Style.LEAN) {
      assertThat(metrics)
          .doesNotContain("http_server_requests", "http_client_requests", "application_started");
    } else {
      assertThat(metrics).contains("http_client_requests_seconds_count");
    }
  }

  /** The metrics, once no request is in flight: its end may be recorded after its answer is out. */
  final String metricsAtRest() throws IOException, InterruptedException {
    String atRest = "lab_inflight_requests{approach=\"%s\"} 0.0".formatted(approach.label());
    while (!metrics().contains(atRest)) {
      Thread.onSpinWait();
    }
    return metrics();
  }

  private String metrics() throws IOException, InterruptedException {
    return text(get(running.managementPort(), "/actuator/prometheus"));
  }

  final int status(String path) {
    try {
      return get(running.port(), path).statusCode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private JsonNode memory(String method) throws IOException, InterruptedException {
    return JsonMapper.shared()
        .readTree(request(method, running.managementPort(), "/memory").body());
  }
}
