package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.BackendException;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.Movies;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class AsyncEndpointsTest {
  private static final String USER = "{\"userId\":\"u1\"}";
  private static final String AUTHORITIES = "{\"authorities\":[\"get-meetings\"]}";

  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final RequestMetrics requests = new RequestMetrics(registry, () -> 0, thread -> true);

  @Test
  void anErrorAtOnceIsAProblemAndLeavesNothingInFlight() {
    assertIsAProblem(
        Endpoint.CAPABILITIES,
        () -> {
          throw new StackOverflowError();
        });
  }

  @Test
  void anErrorAfterAnAnswerOfTheBackendIsAProblemAndLeavesNothingInFlight() {
    for (String parallel : List.of("false", "true")) {
      Supplier<ParsedRequest> capabilities = () -> ParsedRequest.capabilities(null, "2", parallel);
      assertIsAProblem(Endpoint.CAPABILITIES, capabilities, "token");
      assertIsAProblem(Endpoint.CAPABILITIES, capabilities, "token", "ADMIN");
    }
    Supplier<ParsedRequest> meetings = () -> ParsedRequest.meetings("any");
    assertIsAProblem(Endpoint.MEETINGS, meetings, USER);
    assertIsAProblem(Endpoint.MEETINGS, meetings, USER, AUTHORITIES);
  }

  @Test
  void aFailureOfACallAtOnceWithOthersComesToLightOnceAllHaveEnded() {
    CompletableFuture<String> last = new CompletableFuture<>();
    Iterator<Mono<String>> calls =
        List.of(
                Mono.just("token"),
                Mono.just("ADMIN"),
                Mono.<String>error(BackendException.unusable("nothing")),
                Mono.fromFuture(last))
            .iterator();
    var endpoints = new AsyncEndpoints(path -> calls.next(), new Movies(false), requests, null);

    CompletableFuture<Answer> answer =
        endpoints.answer(
            Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(null, "2", "true"));

    assertThat(answer).isNotDone();
    last.complete("text");
    assertThat(answer.join().status()).isEqualTo(502);
  }

  /**
   * @param answers the backend's; asked once more, its client fails
   */
  private void assertIsAProblem(
      Endpoint endpoint, Supplier<ParsedRequest> request, String... answers) {
    Iterator<String> next = List.of(answers).iterator();
    var endpoints =
        new AsyncEndpoints(path -> Mono.just(answer(next)), new Movies(false), requests, null);

    assertThat(endpoints.answer(endpoint, request).join().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  private static String answer(Iterator<String> next) {
    if (!next.hasNext()) {
      throw new StackOverflowError();
    }
    return next.next();
  }
}
