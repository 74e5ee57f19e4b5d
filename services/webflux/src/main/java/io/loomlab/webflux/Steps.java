package io.loomlab.webflux;

import java.util.function.Function;

/** What is done with a value that a Mono gives. */
final class Steps {
  private Steps() {}

  /**
   * The same step, but an Error that it throws becomes an exception: Reactor throws fatal errors
   * past all operators, so that none would ever be answered.
   */
  static <A, B> Function<A, B> answerable(Function<A, B> step) {
    return value -> {
      try {
        return step.apply(value);
      } catch (Error e) {
        throw new IllegalStateException(e);
      }
    };
  }
}
