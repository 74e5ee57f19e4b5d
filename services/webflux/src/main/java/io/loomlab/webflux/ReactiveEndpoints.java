package io.loomlab.webflux;

import static io.loomlab.webflux.Steps.answerable;

import io.loomlab.clients.ReactiveBackend;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.BackendPaths;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.Movies;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** The endpoints without a thread that waits. */
class ReactiveEndpoints implements Endpoints<Mono<Answer>> {
  private static final int CLIENT_GONE = 499;

  private final ReactiveBackend backend;
  private final Movies movies;
  private final RequestMetrics requests;
  private final CpuWork cpu;
  private final Function<ParsedRequest.OfDatabase, Mono<Answer>> database;

  /**
   * @param database null without one: nothing is asked of it then
   */
  ReactiveEndpoints(
      ReactiveBackend backend,
      Movies movies,
      RequestMetrics requests,
      CpuWork cpu,
      Function<ParsedRequest.OfDatabase, Mono<Answer>> database) {
    this.backend = backend;
    this.movies = movies;
    this.requests = requests;
    this.cpu = cpu;
    this.database = database;
  }

  @Override
  public Mono<Answer> answer(Endpoint endpoint, Supplier<ParsedRequest> request) {
    Recorded recorded = new Recorded(endpoint, requests.start(endpoint));
    return Mono.just(request)
        .flatMap(answerable(asked -> answer(asked.get())))
        .onErrorResume(failure -> Mono.just(Answer.problem(failure)))
        .doOnNext(answer -> recorded.stop(answer.status()))
        .doOnCancel(() -> recorded.stop(CLIENT_GONE));
  }

  /** For /pinned there is no thread that could hold a monitor while it waits. */
  private Mono<Answer> answer(ParsedRequest request) {
    return switch (request) {
      case ParsedRequest.Capabilities asked ->
          capabilities(asked).map(answerable(text -> textAfterWork(text, asked.cpuMicros())));
      case ParsedRequest.Meetings asked ->
          meetings(asked.authorization()).map(answerable(Answer::json));
      case ParsedRequest.EpochMillis asked -> epochMillisAfter(asked.delay(), asked.cpuMicros());
      case ParsedRequest.Pinned asked -> epochMillisAfter(asked.delay(), 0);
      case ParsedRequest.FindMovies asked -> {
        movies.requireKnown(asked.director());
        yield after(asked.delay(), () -> Answer.json(movies.by(asked.director())));
      }
      case ParsedRequest.SaveMovies asked ->
          after(asked.delay(), () -> Answer.json(movies.save(asked.movies())));
      case ParsedRequest.Block asked ->
          backend.get(BackendPaths.delay(asked.seconds())).map(answerable(Answer::text));
      case ParsedRequest.OfDatabase asked -> database.apply(asked);
    };
  }

  private Mono<String> capabilities(ParsedRequest.Capabilities asked) {
    return backend
        .get(BackendPaths.AUTHENTICATION)
        .flatMap(answerable(token -> backend.get(BackendPaths.authorization(token))))
        .flatMap(answerable(role -> lastOf(role, asked)));
  }

  private Mono<String> lastOf(String role, ParsedRequest.Capabilities asked) {
    String path = BackendPaths.capabilities(role);
    Mono<String> call = Mono.defer(() -> answerable(backend::get).apply(path));
    return RepeatedCall.lastOf(call, asked.calls(), asked.parallel());
  }

  private Answer textAfterWork(String text, int cpuMicros) {
    cpu.spend(cpuMicros);
    return Answer.text(text);
  }

  private Mono<String> meetings(String authorization) {
    return backend
        .get(BackendPaths.authenticate(authorization))
        .map(answerable(BackendPaths::userId))
        .flatMap(answerable(this::meetingsOf));
  }

  private Mono<String> meetingsOf(String id) {
    return backend
        .get(BackendPaths.authorize(id))
        .flatMap(answerable(authorities -> backend.get(BackendPaths.meetings(id, authorities))));
  }

  private Mono<Answer> epochMillisAfter(Duration wait, int cpuMicros) {
    return after(wait, () -> epochMillis(cpuMicros));
  }

  private Answer epochMillis(int cpuMicros) {
    cpu.spend(cpuMicros);
    return Answer.json(Long.toString(System.currentTimeMillis()));
  }

  private static Mono<Answer> after(Duration wait, Supplier<Answer> answer) {
    return Mono.delay(wait).map(answerable(tick -> answer.get()));
  }

  /** Stops once: a client that goes away may cancel what has already succeeded. */
  private final class Recorded {
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final Endpoint endpoint;
    private final long started;

    Recorded(Endpoint endpoint, long started) {
      this.endpoint = endpoint;
      this.started = started;
    }

    void stop(int status) {
      if (stopped.compareAndSet(false, true)) {
        requests.stop(endpoint, started, status);
      }
    }
  }
}
