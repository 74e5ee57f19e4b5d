package io.loomlab.microhttp;

import io.loomlab.contract.About;
import io.loomlab.contract.Answer;
import io.loomlab.contract.BlockingRouter.Call;
import io.loomlab.contract.Params;
import io.loomlab.contract.RefusedException;
import io.loomlab.contract.RequestBody;
import io.loomlab.contract.Route;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** What {@link io.loomlab.contract.BlockingRouter} does, for {@link AsyncEndpoints}. */
final class AsyncRouter {
  private final AsyncEndpoints endpoints;
  private final Supplier<About> about;

  AsyncRouter(AsyncEndpoints endpoints, Supplier<About> about) {
    this.endpoints = endpoints;
    this.about = about;
  }

  /** The answer, be it a problem; neither throws nor fails. */
  CompletableFuture<Answer> answer(Call call) {
    try {
      return answer(Route.of(call.method(), call.path()), call);
    } catch (RefusedException e) {
      return CompletableFuture.completedFuture(Answer.problem(e));
    }
  }

  private CompletableFuture<Answer> answer(Route route, Call call) {
    if (route.endpoint() == null) {
      return CompletableFuture.completedFuture(Answer.json(about.get().bytes()));
    }
    String delay = call.query(Params.DELAY);
    return switch (route.endpoint()) {
      case CAPABILITIES -> endpoints.capabilities();
      case MEETINGS -> endpoints.meetings(call.header("Authorization"));
      case EPOCH_MILLIS, PINNED -> endpoints.epochMillis(route.endpoint(), delay);
      case MOVIES -> endpoints.movies(call.query(Params.DIRECTOR), delay);
      case SAVE_MOVIES -> save(call, delay);
      case BLOCK -> endpoints.block(route.argument());
    };
  }

  private CompletableFuture<Answer> save(Call call, String delay) {
    RequestBody.requireLength(call.body().length);
    return endpoints.saveMovies(call.header("Content-Type"), delay, call.body());
  }
}
