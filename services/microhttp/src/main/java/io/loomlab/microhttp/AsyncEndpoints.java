package io.loomlab.microhttp;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.Answer;
import io.loomlab.core.BackendPaths;
import io.loomlab.core.ContractException;
import io.loomlab.core.Endpoint;
import io.loomlab.core.Endpoints;
import io.loomlab.core.Movies;
import io.loomlab.core.ParsedRequest;
import io.loomlab.core.RequestMetrics;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The endpoints as futures: no thread waits. */
final class AsyncEndpoints implements Endpoints<CompletableFuture<Answer>> {
  private static final System.Logger LOG = System.getLogger(AsyncEndpoints.class.getName());

  /** Named, because before JDK 25 the default is a new thread per task on up to two processors. */
  private static final Executor AFTER_WAIT = ForkJoinPool.commonPool();

  private final ReactorClient backend;
  private final Movies movies;
  private final RequestMetrics requests;

  AsyncEndpoints(ReactorClient backend, Movies movies, RequestMetrics requests) {
    this.backend = backend;
    this.movies = movies;
    this.requests = requests;
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
      case ParsedRequest.Capabilities none -> capabilities().thenApply(Answer::text);
      case ParsedRequest.Meetings asked -> meetings(asked.authorization()).thenApply(Answer::json);
      case ParsedRequest.EpochMillis asked -> epochMillisAfter(asked.delay());
      case ParsedRequest.Pinned asked -> epochMillisAfter(asked.delay());
      case ParsedRequest.FindMovies asked -> {
        movies.requireKnown(asked.director());
        yield after(asked.delay(), () -> Answer.json(movies.by(asked.director())));
      }
      case ParsedRequest.SaveMovies asked ->
          after(asked.delay(), () -> Answer.json(movies.save(asked.movies())));
      case ParsedRequest.Block asked ->
          get(BackendPaths.delay(asked.seconds())).thenApply(Answer::text);
    };
  }

  private CompletableFuture<String> capabilities() {
    return get(BackendPaths.AUTHENTICATION)
        .thenCompose(token -> get(BackendPaths.authorization(token)))
        .thenCompose(role -> get(BackendPaths.capabilities(role)));
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

  private static CompletableFuture<Answer> epochMillisAfter(Duration wait) {
    return after(wait, () -> Answer.json(Long.toString(System.currentTimeMillis())));
  }

  private static CompletableFuture<Answer> after(Duration wait, Supplier<Answer> answer) {
    return CompletableFuture.supplyAsync(
        answer,
        CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS, AFTER_WAIT));
  }

  private static Answer problem(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (!(cause instanceof ContractException)) {
      LOG.log(System.Logger.Level.ERROR, "A request failed: {0}", cause.toString());
    }
    return Answer.problem(cause);
  }
}
