package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.clients.ReactiveBackend;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.BackendException;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

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
    var endpoints = new ReactiveEndpoints(backend, new Movies(false), requests, null, null);
    Supplier<ParsedRequest> request = () -> ParsedRequest.capabilities(null, "2", "true");

    assertThat(endpoints.answer(Endpoint.CAPABILITIES, request).block().status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  @Test
  void aFailureOfACallAtOnceWithOthersComesToLightOnceAllHaveEnded() {
    Sinks.One<String> last = Sinks.one();
    Iterator<Mono<String>> calls =
        List.of(
                Mono.just("token"),
                Mono.just("ADMIN"),
                Mono.<String>error(BackendException.unusable("nothing")),
                last.asMono())
            .iterator();
    var endpoints =
        new ReactiveEndpoints(path -> calls.next(), new Movies(false), requests, null, null);

    CompletableFuture<Answer> answer =
        endpoints
            .answer(Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(null, "2", "true"))
            .toFuture();

    assertThat(answer).isNotDone();
    last.tryEmitValue("text").orThrow();
    assertThat(answer.join().status()).isEqualTo(502);
  }

  @Test
  void aClientThatLeavesIsCountedOnceAs499OrAsWhatItWasAnswered() {
    var endpoints =
        new ReactiveEndpoints(path -> Mono.just("0"), new Movies(false), requests, null, null);
    endpoints
        .answer(Endpoint.EPOCH_MILLIS, () -> ParsedRequest.epochMillis("60000", null))
        .subscribe()
        .dispose();
    endpoints.answer(Endpoint.BLOCK, () -> ParsedRequest.block("0")).flux().take(1).blockLast();

    assertThat(registry.scrape())
        .contains("endpoint=\"/epoch-millis\",status=\"499\"} 1\n")
        .contains("endpoint=\"/httpbin/block/{seconds}\",status=\"200\"} 1\n")
        .doesNotContain("endpoint=\"/httpbin/block/{seconds}\",status=\"499\"");
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  /**
   * @param answers the backend's; asked once more, its client fails
   */
  private void assertIsAProblem(
      Endpoint endpoint, Supplier<ParsedRequest> request, String... answers) {
    Iterator<String> next = List.of(answers).iterator();
    var endpoints =
        new ReactiveEndpoints(
            path -> Mono.just(answer(next)), new Movies(false), requests, null, null);

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
