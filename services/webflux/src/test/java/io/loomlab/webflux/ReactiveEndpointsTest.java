package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.Endpoint;
import io.loomlab.core.LabRegistry;
import io.loomlab.core.Movies;
import io.loomlab.core.ParsedRequest;
import io.loomlab.core.RequestMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReactiveEndpointsTest {
  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final ReactiveEndpoints endpoints =
      new ReactiveEndpoints(
          null, new Movies(false), new RequestMetrics(registry, () -> 0, thread -> true), null);

  @Test
  void anErrorIsAProblemAndLeavesNothingInFlight() {
    var atOnce =
        endpoints.answer(
            Endpoint.CAPABILITIES,
            () -> {
              throw new StackOverflowError();
            });
    var afterTheWait =
        endpoints.answer(
            Endpoint.SAVE_MOVIES, () -> new ParsedRequest.SaveMovies(null, Duration.ZERO));

    assertThat(atOnce.block().status()).isEqualTo(500);
    assertThat(afterTheWait.block().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }
}
