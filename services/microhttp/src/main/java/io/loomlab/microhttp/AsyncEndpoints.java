package io.loomlab.microhttp;

import io.loomlab.clients.ReactiveBackend;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.http.RefusedException;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.BackendPaths;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.Movies;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The endpoints as futures: no thread waits. */
final class AsyncEndpoints implements Endpoints<CompletableFuture<Answer>> {
  /** Named, because before JDK 25 the default is a new thread per task on up to two processors. */
  private static final Executor AFTER_WAIT = ForkJoinPool.commonPool();

  private final ReactiveBackend backend;
  private final Movies movies;
  private final RequestMetrics requests;
  private final CpuWork cpu;

  AsyncEndpoints(ReactiveBackend backend, Movies movies, RequestMetrics requests, CpuWork cpu) {
    this.backend = backend;
    this.movies = movies;
    this.requests = requests;
    this.cpu = cpu;
  }

  @Override
  public CompletableFuture<Answer> answer(Endpoint endpoint, Supplier<ParsedRequest> request) {
    long started = requests.start(endpoint);
    return started(request)
        .exceptionally(AsyncEndpoints::problem)
        .whenComplete((answer, none) -> requests.stop(endpoint, started, answer.status()));
  }

  private CompletableFuture<Answer> started(Supplier<ParsedRequest> request) {
    try {
      return answer(request.get());
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** For /pinned there is no thread that could hold a monitor while it waits. */
  private CompletableFuture<Answer> answer(ParsedRequest request) {
    return switch (request) {
      case ParsedRequest.Capabilities asked ->
          capabilities(asked).thenApply(text -> textAfterWork(text, asked.cpuMicros()));
      case ParsedRequest.Meetings asked -> meetings(asked.authorization()).thenApply(Answer::json);
      case ParsedRequest.EpochMillis asked -> epochMillisAfter(asked.delay(), asked.cpuMicros());
      case ParsedRequest.Pinned asked -> epochMillisAfter(asked.delay(), 0);
      case ParsedRequest.FindMovies asked -> {
        movies.requireKnown(asked.director());
        yield after(asked.delay(), () -> Answer.json(movies.by(asked.director())));
      }
      case ParsedRequest.SaveMovies asked ->
          after(asked.delay(), () -> Answer.json(movies.save(asked.movies())));
      case ParsedRequest.Block asked ->
          get(BackendPaths.delay(asked.seconds())).thenApply(Answer::text);
      case ParsedRequest.OfDatabase asked -> throw RefusedException.of(404);
    };
  }

  private CompletableFuture<String> capabilities(ParsedRequest.Capabilities asked) {
    return get(BackendPaths.AUTHENTICATION)
        .thenCompose(token -> get(BackendPaths.authorization(token)))
        .thenCompose(role -> lastOf(BackendPaths.capabilities(role), asked));
  }

  private CompletableFuture<String> lastOf(String path, ParsedRequest.Capabilities asked) {
    return asked.parallel()
        ? lastAtOnce(path, asked.calls())
        : lastInSuccession(path, asked.calls());
  }

  /** Is complete once all calls have ended, and fails if one of them did. */
  private CompletableFuture<String> lastAtOnce(String path, int calls) {
    List<CompletableFuture<String>> answers =
        Stream.generate(() -> get(path)).limit(calls).toList();
    return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
        .thenCompose(all -> answers.getLast());
  }

  private CompletableFuture<String> lastInSuccession(String path, int calls) {
    CompletableFuture<String> answer = get(path);
    for (int i = 1; i < calls; i++) {
      answer = answer.thenCompose(before -> get(path));
    }
    return answer;
  }

  private Answer textAfterWork(String text, int cpuMicros) {
    cpu.spend(cpuMicros);
    return Answer.text(text);
  }

  private CompletableFuture<String> meetings(String authorization) {
    return get(BackendPaths.authenticate(authorization))
        .thenApply(BackendPaths::userId)
        .thenCompose(
            id ->
                get(BackendPaths.authorize(id))
                    .thenCompose(authorities -> get(BackendPaths.meetings(id, authorities))));
  }

  private CompletableFuture<String> get(String path) {
    return backend.get(path).toFuture();
  }

  private CompletableFuture<Answer> epochMillisAfter(Duration wait, int cpuMicros) {
    return after(wait, () -> epochMillis(cpuMicros));
  }

  private Answer epochMillis(int cpuMicros) {
    cpu.spend(cpuMicros);
    return Answer.json(Long.toString(System.currentTimeMillis()));
  }

  private static CompletableFuture<Answer> after(Duration wait, Supplier<Answer> answer) {
    return CompletableFuture.supplyAsync(
        answer,
        CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS, AFTER_WAIT));
  }

  private static Answer problem(Throwable failure) {
    return Answer.problem(failure instanceof CompletionException ? failure.getCause() : failure);
  }
}
