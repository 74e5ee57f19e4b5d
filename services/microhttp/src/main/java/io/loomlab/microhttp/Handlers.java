package io.loomlab.microhttp;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Router;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.microhttp.Handler;
import org.microhttp.Request;
import org.microhttp.Response;

/**
 * What microhttp calls with each request. Whatever fails is answered as a bug, because microhttp
 * would send nothing.
 */
final class Handlers {
  private Handlers() {}

  /**
   * Answers on a thread of the executor, or at once if that takes no task. An executor must not
   * fail after it has taken one; the JDK's of virtual threads may, if a carrier cannot be started.
   */
  static Handler blocking(Router<Answer> router, Executor executor) {
    return (request, callback) -> {
      try {
        executor.execute(
            () -> {
              Answer answer =
                  orElse(() -> router.answer(MicrohttpCall.of(request)), Answer::problem);
              callback.accept(response(answer, request));
            });
      } catch (RuntimeException | Error e) {
        callback.accept(response(Answer.problem(e), request));
      }
    };
  }

  /** Answers on the thread that completes the answer. */
  static Handler async(Router<CompletableFuture<Answer>> router) {
    return (request, callback) ->
        orElse(
                () -> router.answer(MicrohttpCall.of(request)),
                failure -> CompletableFuture.completedFuture(Answer.problem(failure)))
            .whenComplete(
                (answer, failure) -> {
                  Answer told = failure == null ? answer : Answer.problem(failure);
                  callback.accept(response(told, request));
                });
  }

  private static Response response(Answer answer, Request request) {
    return orElse(
        () -> Responses.of(answer, request),
        failure -> Responses.of(Answer.problem(failure), request));
  }

  private static <T> T orElse(Supplier<T> wanted, Function<Throwable, T> problem) {
    try {
      return wanted.get();
    } catch (RuntimeException | Error e) {
      return problem.apply(e);
    }
  }
}
