package io.loomlab.backend;

import java.util.random.RandomGenerator;

/** The behaviour as one loop applies it to its requests, with random numbers of its own. */
final class LoopBehaviour {
  private final Behaviour behaviour;
  private final RandomGenerator random;
  private final RandomGenerator tokens;

  /**
   * @param random makes delays and failures
   * @param tokens makes what is in an answer, so that one has no effect on the other
   */
  LoopBehaviour(Behaviour behaviour, RandomGenerator random, RandomGenerator tokens) {
    this.behaviour = behaviour;
    this.random = random;
    this.tokens = tokens;
  }

  /** The answer to a request target. */
  BackendAnswer answer(String target) {
    return Routes.answer(target, tokens);
  }

  /** How long the requester waits for this answer, a hang aside. */
  long delayNanos(BackendAnswer answer) {
    long nanos = answer.delayNanos();
    return nanos == BackendAnswer.DELAY_AS_CONFIGURED ? behaviour.delay().nanos(random) : nanos;
  }

  /** The answer itself, or the failure that the error share makes of a success. */
  BackendAnswer outcome(BackendAnswer answer) {
    boolean fails = answer.status() == 200 && behaviour.errorShare().hits(random);
    return fails ? BackendAnswer.FAILURE : answer;
  }

  /** See {@link Behaviour#dueNanos}. */
  long dueNanos(long deadlineNanos) {
    return behaviour.dueNanos(deadlineNanos);
  }
}
