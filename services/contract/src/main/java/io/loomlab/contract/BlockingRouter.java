package io.loomlab.contract;

import java.util.function.Supplier;

/** All endpoints behind one method, for servers without a router and without typed parameters. */
public final class BlockingRouter {
  /** What a router reads off a request. */
  public interface Call {
    String method();

    /** Without the query. */
    String path();

    /** The first value of a query parameter, decoded; null without one. */
    String query(String name);

    /** The first value of a header; null without one. */
    String header(String name);

    byte[] body();
  }

  private final BlockingEndpoints endpoints;
  private final Supplier<About> about;

  public BlockingRouter(BlockingEndpoints endpoints, Supplier<About> about) {
    this.endpoints = endpoints;
    this.about = about;
  }

  /** The answer, be it a problem; never throws. */
  public Answer answer(Call call) {
    try {
      return answer(Route.of(call.method(), call.path()), call);
    } catch (RefusedException e) {
      return Answer.problem(e);
    }
  }

  private Answer answer(Route route, Call call) {
    if (route.endpoint() == null) {
      return Answer.json(about.get().bytes());
    }
    String delay = call.query(Params.DELAY);
    return switch (route.endpoint()) {
      case CAPABILITIES -> endpoints.capabilities();
      case MEETINGS -> endpoints.meetings(call.header("Authorization"));
      case EPOCH_MILLIS -> endpoints.epochMillis(delay);
      case MOVIES -> endpoints.movies(call.query(Params.DIRECTOR), delay);
      case SAVE_MOVIES -> save(call, delay);
      case BLOCK -> endpoints.block(route.argument());
      case PINNED -> endpoints.pinned(delay);
    };
  }

  private Answer save(Call call, String delay) {
    byte[] body = call.body();
    RequestBody.requireLength(body.length);
    return endpoints.saveMovies(call.header("Content-Type"), delay, body);
  }
}
