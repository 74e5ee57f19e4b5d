package io.loomlab.microhttp;

import io.loomlab.clients.ReactorClient;
import io.loomlab.contract.Answer;
import io.loomlab.contract.BackendPaths;
import io.loomlab.contract.ContractException;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.Movies;
import io.loomlab.contract.Params;
import io.loomlab.contract.RequestBody;
import io.loomlab.contract.RequestMetrics;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The endpoints as futures: no thread waits. Checks, and their order, are those of {@link
 * io.loomlab.contract.BlockingEndpoints}. Every future gives an answer, be it a problem.
 */
final class AsyncEndpoints {
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

  CompletableFuture<Answer> capabilities() {
    return measured(
        Endpoint.CAPABILITIES,
        () ->
            get(BackendPaths.AUTHENTICATION)
                .thenCompose(token -> get(BackendPaths.authorization(token)))
                .thenCompose(role -> get(BackendPaths.capabilities(role)))
                .thenApply(Answer::text));
  }

  CompletableFuture<Answer> meetings(String authorization) {
    return measured(
        Endpoint.MEETINGS,
        () ->
            get(BackendPaths.authenticate(Params.authorization(authorization)))
                .thenApply(BackendPaths::userId)
                .thenCompose(this::meetingsOf)
                .thenApply(Answer::json));
  }

  /** Of /epoch-millis, and of /pinned, where there is no thread that could hold a monitor. */
  CompletableFuture<Answer> epochMillis(Endpoint endpoint, String delay) {
    return measured(
        endpoint,
        () ->
            after(
                Params.delay(delay), () -> Answer.json(Long.toString(System.currentTimeMillis()))));
  }

  CompletableFuture<Answer> movies(String director, String delay) {
    return measured(
        Endpoint.MOVIES,
        () -> {
          Duration wait = Params.delay(delay);
          movies.requireKnown(Params.director(director));
          return after(wait, () -> Answer.json(movies.by(director)));
        });
  }

  CompletableFuture<Answer> saveMovies(String contentType, String delay, byte[] body) {
    return measured(
        Endpoint.SAVE_MOVIES,
        () -> {
          RequestBody.requireJson(contentType);
          Duration wait = Params.delay(delay);
          Movies.Batch batch = Movies.read(body);
          return after(wait, () -> Answer.json(movies.save(batch)));
        });
  }

  CompletableFuture<Answer> block(String seconds) {
    return measured(
        Endpoint.BLOCK,
        () -> get(BackendPaths.delay(Params.seconds(seconds))).thenApply(Answer::text));
  }

  private CompletableFuture<String> meetingsOf(String userId) {
    return get(BackendPaths.authorize(userId))
        .thenCompose(authorities -> get(BackendPaths.meetings(userId, authorities)));
  }

  private CompletableFuture<String> get(String path) {
    return backend.get(path).toFuture();
  }

  private static CompletableFuture<Answer> after(Duration wait, Supplier<Answer> answer) {
    return CompletableFuture.supplyAsync(
        answer,
        CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS, AFTER_WAIT));
  }

  private CompletableFuture<Answer> measured(
      Endpoint endpoint, Supplier<CompletableFuture<Answer>> handler) {
    long started = requests.start(endpoint);
    return started(handler)
        .exceptionally(AsyncEndpoints::problem)
        .whenComplete((answer, none) -> requests.stop(endpoint, started, answer.status()));
  }

  private static CompletableFuture<Answer> started(Supplier<CompletableFuture<Answer>> handler) {
    try {
      return handler.get();
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static Answer problem(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (!(cause instanceof ContractException)) {
      LOG.log(System.Logger.Level.ERROR, "A request failed: {0}", cause.toString());
    }
    return Answer.problem(cause);
  }
}
