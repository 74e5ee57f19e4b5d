package io.loomlab.core.http;

import io.loomlab.core.work.Movies;
import io.loomlab.core.work.Orders;
import java.time.Duration;

/**
 * What a request asks for, with its parameters read. The factories check the parameters in the same
 * order for every approach; each throws a {@link RefusedException} that says what is wrong.
 */
public sealed interface ParsedRequest {
  /**
   * @param calls how often the third backend call is made
   * @param parallel whether these calls are made at once
   */
  record Capabilities(int cpuMicros, int calls, boolean parallel) implements ParsedRequest {}

  record Meetings(String authorization) implements ParsedRequest {}

  record EpochMillis(Duration delay, int cpuMicros) implements ParsedRequest {}

  record Pinned(Duration delay) implements ParsedRequest {}

  record FindMovies(String director, Duration delay) implements ParsedRequest {}

  record SaveMovies(Movies.Batch movies, Duration delay) implements ParsedRequest {}

  record Block(String seconds) implements ParsedRequest {}

  /** What a database answers. */
  sealed interface OfDatabase extends ParsedRequest {}

  record FindOrder(long id) implements OfDatabase {}

  record OrdersOf(int customer) implements OfDatabase {}

  record PlaceOrder(Orders.New order) implements OfDatabase {}

  record Slow(Duration delay) implements OfDatabase {}

  /** One call needs nothing to run it beside others. */
  static ParsedRequest capabilities(String cpuMicros, String calls, String parallel) {
    int work = Params.cpuMicros(cpuMicros);
    int times = Params.calls(calls);
    return new Capabilities(work, times, Params.parallel(parallel) && times > 1);
  }

  static ParsedRequest meetings(String authorization) {
    return new Meetings(Params.authorization(authorization));
  }

  static ParsedRequest epochMillis(String delay, String cpuMicros) {
    Duration wait = Params.delay(delay);
    return new EpochMillis(wait, Params.cpuMicros(cpuMicros));
  }

  /** Asked on {@link Endpoint#EPOCH_MILLIS_OF_PATH}. */
  static ParsedRequest epochMillisOf(String delayMillis, String delayInMillis, String cpuMicros) {
    Duration wait = Params.delay(delayMillis, delayInMillis);
    return new EpochMillis(wait, Params.cpuMicros(cpuMicros));
  }

  static ParsedRequest pinned(String delay) {
    return new Pinned(Params.delay(delay));
  }

  static ParsedRequest findMovies(String director, String delay) {
    Duration wait = Params.delay(delay);
    return new FindMovies(Params.director(director), wait);
  }

  static ParsedRequest saveMovies(String contentType, String delay, byte[] body) {
    RequestBody.requireJson(contentType);
    Duration wait = Params.delay(delay);
    return new SaveMovies(Movies.read(body), wait);
  }

  static ParsedRequest block(String seconds) {
    return new Block(Params.seconds(seconds));
  }

  static ParsedRequest findOrder(String id) {
    return new FindOrder(Params.order(id));
  }

  static ParsedRequest ordersOf(String customer) {
    return new OrdersOf(Params.customer(customer));
  }

  static ParsedRequest placeOrder(String contentType, byte[] body) {
    RequestBody.requireJson(contentType);
    return new PlaceOrder(Orders.read(body));
  }

  static ParsedRequest slow(String millis) {
    return new Slow(Params.millis(millis));
  }
}
