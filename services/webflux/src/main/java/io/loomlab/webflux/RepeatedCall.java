package io.loomlab.webflux;

import static io.loomlab.webflux.Steps.answerable;

import java.util.Collections;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** A call of the backend that is made several times. */
public final class RepeatedCall {
  private RepeatedCall() {}

  /**
   * What the last one gives; fails as any of them does.
   *
   * @param atOnce whether they are made at once, else one after another
   */
  public static Mono<String> lastOf(Mono<String> call, int times, boolean atOnce) {
    if (atOnce) {
      return Mono.zip(
          Collections.nCopies(times, call.materialize()), answerable(RepeatedCall::last));
    }
    return times == 1 ? call : call.repeat(times - 1L).last();
  }

  /** All have ended, for a failure would break the others off; here it comes to light. */
  private static String last(Object[] outcomes) {
    String text = null;
    for (Object outcome : outcomes) {
      Signal<?> signal = (Signal<?>) outcome;
      if (signal.isOnError()) {
        throw Exceptions.propagate(signal.getThrowable());
      }
      text = (String) signal.get();
    }
    return text;
  }
}
