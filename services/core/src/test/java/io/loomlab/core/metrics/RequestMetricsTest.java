package io.loomlab.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Endpoint;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RequestMetricsTest {
  /** Each is a series that is scraped every second. */
  private static final int MOST_BUCKETS = 205;

  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final RequestMetrics requests = new RequestMetrics(registry, () -> 7, thread -> false);

  @Test
  void bucketsAreFewAndHoldWhatDelaysAddUpTo() {
    assertThat(Set.copyOf(RequestMetrics.BUCKETS))
        .hasSizeLessThan(MOST_BUCKETS)
        .contains(Duration.ofMillis(900), Duration.ofMillis(910), Duration.ofMillis(925))
        .contains(Duration.ofMillis(950), Duration.ofSeconds(10));
  }

  @Test
  void aRegistryTellsItsRequestsInFlightIfItHasAny() {
    requests.start(Endpoint.CAPABILITIES);
    assertThat(RequestMetrics.inFlight(registry)).isEqualTo(1);
    assertThat(RequestMetrics.inFlight(LabRegistry.create("backend"))).isNull();
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
}
