package io.loomlab.core.http;

import io.loomlab.core.settings.About;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * All endpoints behind one method, for servers without a router and without typed parameters.
 *
 * @param <T> as of {@link Endpoints}
 */
public final class Router<T> {
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

  private final Endpoints<T> endpoints;
  private final Supplier<About> about;
  private final Function<Answer, T> given;

  /**
   * @param given gives an answer that is known at once
   */
  public Router(Endpoints<T> endpoints, Supplier<About> about, Function<Answer, T> given) {
    this.endpoints = endpoints;
    this.about = about;
    this.given = given;
  }

  /**
   * The answer, which may be a problem. Throws what telling about the approach or reading the body
   * throws; the module of the server answers that.
   */
  public T answer(Call call) {
    try {
      Route route = Route.of(call.method(), call.path());
      return route.endpoint() == null
          ? given.apply(Answer.json(about.get().bytes()))
          : endpoints.answer(route.endpoint(), parsed(route, call));
    } catch (RefusedException e) {
      return given.apply(Answer.problem(e));
    }
  }

  /** A body that is too long is refused here, before anything is recorded. */
  private static Supplier<ParsedRequest> parsed(Route route, Call call) {
    return switch (route.endpoint()) {
      case CAPABILITIES ->
          () ->
              ParsedRequest.capabilities(
                  call.query(Params.CPU_MICROS),
                  call.query(Params.CALLS),
                  call.query(Params.PARALLEL));
      case MEETINGS -> () -> ParsedRequest.meetings(call.header("Authorization"));
      case EPOCH_MILLIS ->
          route.argument() == null
              ? () -> ParsedRequest.epochMillis(delay(call), cpuMicros(call))
              : () ->
                  ParsedRequest.epochMillisOf(
                      call.query(Params.DELAY_MILLIS), delay(call), cpuMicros(call));
      case PINNED -> () -> ParsedRequest.pinned(delay(call));
      case MOVIES -> () -> ParsedRequest.findMovies(call.query(Params.DIRECTOR), delay(call));
      case BLOCK -> () -> ParsedRequest.block(route.argument());
      case ORDER, ORDERS, PLACE_ORDER, SLOW -> throw RefusedException.of(404);
      case SAVE_MOVIES -> {
        byte[] body = call.body();
        RequestBody.requireLength(body.length);
        yield () -> ParsedRequest.saveMovies(call.header("Content-Type"), delay(call), body);
      }
    };
  }

  private static String delay(Call call) {
    return call.query(Params.DELAY);
  }

  private static String cpuMicros(Call call) {
    return call.query(Params.CPU_MICROS);
  }
}
