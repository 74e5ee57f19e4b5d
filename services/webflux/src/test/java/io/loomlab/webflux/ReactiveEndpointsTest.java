package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.clients.ReactiveBackend;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.Movie;
import io.loomlab.core.work.Movies;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Errors are of the kinds that Reactor calls fatal. */
class ReactiveEndpointsTest {
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
  void anErrorAfterTheWaitIsAProblemAndLeavesNothingInFlight() {
    Movies.Batch unwritable =
        new Movies.Batch(
            new AbstractList<>() {
              @Override
              public Movie get(int index) {
                throw new NoClassDefFoundError();
              }

              @Override
              public int size() {
                return 1;
              }
            });
    assertIsAProblem(
        Endpoint.SAVE_MOVIES, () -> new ParsedRequest.SaveMovies(unwritable, Duration.ZERO));
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
  void anErrorOfACallAtOnceWithOthersIsAProblemAndLeavesNothingInFlight() {
    ReactiveBackend backend =
        path ->
            path.startsWith("/capabilities/")
                ? Mono.error(new StackOverflowError())
                : Mono.just("token");
    var endpoints = new ReactiveEndpoints(backend, new Movies(false), requests, null);
    Supplier<ParsedRequest> request = () -> ParsedRequest.capabilities(null, "2", "true");

    assertThat(endpoints.answer(Endpoint.CAPABILITIES, request).block().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  /**
   * @param answers the backend's; asked once more, its client fails
   */
  private void assertIsAProblem(
      Endpoint endpoint, Supplier<ParsedRequest> request, String... answers) {
    Iterator<String> next = List.of(answers).iterator();
    var endpoints =
        new ReactiveEndpoints(path -> Mono.just(answer(next)), new Movies(false), requests, null);

    assertThat(endpoints.answer(endpoint, request).block().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  private static String answer(Iterator<String> next) {
    if (!next.hasNext()) {
      throw new StackOverflowError();
    }
    return next.next();
  }
}
