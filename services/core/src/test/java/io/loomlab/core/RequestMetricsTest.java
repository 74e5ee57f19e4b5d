package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class RequestMetricsTest {
  /** Each is a series that is scraped every second. */
  private static final int MOST_BUCKETS = 205;

  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final RequestMetrics requests = new RequestMetrics(registry, () -> 7, thread -> false);

  @Test
  void countsRequestsByEndpointAndStatus() {
    requests.stop(Endpoint.CAPABILITIES, requests.start(Endpoint.CAPABILITIES), 200);
    requests.stop(Endpoint.CAPABILITIES, requests.start(Endpoint.CAPABILITIES), 504);
    requests.stop(Endpoint.CAPABILITIES, requests.start(Endpoint.CAPABILITIES), 504);
    String labels = "{approach=\"some-approach\",endpoint=\"/capabilities\",status=";
    assertThat(registry.scrape())
        .contains("lab_requests_seconds_count" + labels + "\"200\"} 1\n")
        .contains("lab_requests_seconds_count" + labels + "\"504\"} 2\n")
        .contains("lab_requests_seconds_bucket" + labels + "\"200\",le=\"60.0\"} 1\n");
  }

  @Test
  void fromAMillisecondToTenSecondsABoundIsAtMostFivePercentAboveTheOneBefore() {
    requests.stop(Endpoint.CAPABILITIES, requests.start(Endpoint.CAPABILITIES), 200);
    List<Double> bounds =
        Pattern.compile("lab_requests_seconds_bucket\\{.*le=\"([0-9.]+)\"")
            .matcher(registry.scrape())
            .results()
            .map(bound -> Double.valueOf(bound.group(1)))
            .toList();
    assertThat(bounds).startsWith(0.001).contains(0.9, 10.0).endsWith(60.0);
    assertThat(bounds).hasSizeLessThan(MOST_BUCKETS);
    for (int i = 1; bounds.get(i) <= 10; i++) {
      assertThat(bounds.get(i) / bounds.get(i - 1)).isLessThanOrEqualTo(1.050_000_1);
    }
  }

  @Test
  void aRegistryTellsItsRequestsInFlightIfItHasAny() {
    requests.start(Endpoint.CAPABILITIES);
    assertThat(RequestMetrics.inFlight(registry)).isEqualTo(1);
    assertThat(RequestMetrics.inFlight(LabRegistry.create("backend"))).isNull();
  }

  @Test
  void requestIsInFlightUntilItStops() {
    long started = requests.start(Endpoint.CAPABILITIES);
    assertThat(registry.scrape()).contains("lab_inflight_requests{approach=\"some-approach\"} 1.0");
    requests.stop(Endpoint.CAPABILITIES, started, 200);
    assertThat(registry.scrape()).contains("lab_inflight_requests{approach=\"some-approach\"} 0.0");
  }

  @Test
  void requestLastsFromItsStartToItsEnd() {
    long started = requests.start(Endpoint.CAPABILITIES) - Duration.ofSeconds(3).toNanos();
    requests.stop(Endpoint.CAPABILITIES, started, 200);
    assertThat(registry.get(RequestMetrics.NAME).timer().totalTime(TimeUnit.SECONDS))
        .isBetween(3.0, 30.0);
  }

  @Test
  void requestIsInFlightUntilItsEndIsRecorded() {
    List<Long> inFlight = new ArrayList<>();
    registry
        .config()
        .onMeterAdded(
            meter -> {
              if (meter.getId().getName().equals(RequestMetrics.NAME)) {
                inFlight.add(RequestMetrics.inFlight(registry));
              }
            });
    requests.stop(Endpoint.CAPABILITIES, requests.start(Endpoint.CAPABILITIES), 200);
    assertThat(inFlight).containsExactly(1L);
  }

  @Test
  void remembersTheKindOfThreadThatServedTheFirstRequest() throws InterruptedException {
    assertThat(requests.threadKinds()).containsEntry("/capabilities", null);
    Thread.ofVirtual().start(() -> requests.start(Endpoint.CAPABILITIES)).join();
    requests.start(Endpoint.CAPABILITIES);
    assertThat(requests.threadKinds()).containsEntry("/capabilities", "virtual");
  }

  @Test
  void exportsWhatTheReportNeeds() {
    assertThat(registry.scrape())
        .contains("lab_allocated_bytes_total{")
        .contains("lab_open_connections{approach=\"some-approach\"} 7.0")
        .contains("process_cpu_time_ns_total{")
        .contains("process_memory_rss_bytes{")
        .contains("process_memory_vss_bytes{")
        .contains("process_start_time_seconds{")
        .contains("process_files_open_files{")
        .contains("jvm_compilation_time_ms_total{")
        .contains("jvm_threads_live_threads{")
        .contains("jvm_threads_virtual_pinned_seconds_count{")
        .contains("jvm_threads_virtual_parallelism{")
        .contains("jvm_threads_virtual_pool_size_threads{")
        .contains("jvm_threads_virtual_live_threads{")
        .contains("jvm_memory_used_bytes{");
  }
}
