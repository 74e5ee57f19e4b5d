package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.Approach;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class BlockingEndpointsTest {
  private static final int ITERATIONS_PER_MICROSECOND = 100;

  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final RequestMetrics requests = new RequestMetrics(registry, () -> 0, thread -> false);
  private long waitedNanos;

  @Test
  void theServingThreadWorksAsLongAsAskedFor() {
    assertWorks(Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities("200000", null, null));
    assertWorks(Endpoint.EPOCH_MILLIS, () -> ParsedRequest.epochMillis("0", "200000"));
  }

  @Test
  void whatIsRefusedDoesNotWaitBefore() {
    assertStatus(404, Endpoint.MOVIES, () -> ParsedRequest.findMovies("Lucas", "60000"));
    assertStatus(
        400,
        Endpoint.SAVE_MOVIES,
        () -> ParsedRequest.saveMovies("application/json", "60000", new byte[0]));
  }

  @Test
  void aBugIsAProblemIsCountedAndLeavesNothingInFlight() {
    assertIsABug(
        () -> {
          throw new IllegalStateException("a bug");
        });
    assertIsABug(
        () -> {
          throw new StackOverflowError();
        });
    assertThat(registry.scrape())
        .contains("endpoint=\"/httpbin/block/{seconds}\",status=\"500\"} 2\n");
  }

  /** Of the work, only what follows the last wait counts. */
  private void assertWorks(Endpoint endpoint, Supplier<ParsedRequest> request) {
    waited();
    assertStatus(200, endpoint, request);
    assertThat(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - waitedNanos)
        .isGreaterThan(10_000_000);
  }

  private String waited() {
    waitedNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    return "any";
  }

  private void assertIsABug(Supplier<ParsedRequest> request) {
    assertStatus(500, Endpoint.BLOCK, request);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  private void assertStatus(int status, Endpoint endpoint, Supplier<ParsedRequest> request) {
    BlockingEndpoints endpoints =
        new BlockingEndpoints(
            path -> waited(),
            new Movies(false),
            requests,
            new CpuWork(ITERATIONS_PER_MICROSECOND),
            FanOut.of(Approach.Concurrency.PLATFORM_THREADS));
    assertThat(endpoints.answer(endpoint, request).status()).isEqualTo(status);
  }
}
