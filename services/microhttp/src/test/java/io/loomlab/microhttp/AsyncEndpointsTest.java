package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.Endpoint;
import io.loomlab.core.LabRegistry;
import io.loomlab.core.Movies;
import io.loomlab.core.RequestMetrics;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

class AsyncEndpointsTest {
  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final AsyncEndpoints endpoints =
      new AsyncEndpoints(
          null, new Movies(false), new RequestMetrics(registry, () -> 0, thread -> true), null);

  @Test
  void anErrorIsAProblemAndLeavesNothingInFlight() {
    var answer =
        endpoints.answer(
            Endpoint.CAPABILITIES,
            () -> {
              throw new StackOverflowError();
            });

    assertThat(answer.join().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }
}
