package io.loomlab.backend;

import java.time.Duration;

/** How the backend answers. Changed by one thread while the loops read it for every request. */
final class Behaviour {
  private record Hang(long endNanos, long endEpochMillis) {}

  private record Lease(Delay delay, long endNanos) {}

  private volatile Delay delay;
  private volatile Lease lease = new Lease(null, System.nanoTime());
  private volatile ErrorShare errorShare;
  private volatile Hang hang = hangFor(Duration.ZERO);

  Behaviour(Delay delay, ErrorShare errorShare) {
    this.delay = delay;
    this.errorShare = errorShare;
  }

  Delay delay() {
    Lease current = lease;
    return current.endNanos > System.nanoTime() ? current.delay : delay;
  }

  /** For requests that arrive from now on; ends a lease. */
  void delay(Delay delay) {
    this.delay = delay;
    lease = new Lease(delay, System.nanoTime());
  }

  /**
   * For requests that arrive within that time; then the delay before holds again. Takes the place
   * of an earlier lease; zero just ends that.
   */
  void delay(Delay delay, Duration lasting) {
    lease = new Lease(delay, System.nanoTime() + lasting.toNanos());
  }

  ErrorShare errorShare() {
    return errorShare;
  }

  /** For requests that arrive from now on. */
  void errorShare(ErrorShare errorShare) {
    this.errorShare = errorShare;
  }

  /** From now for that long nothing is answered, instead of what was said before; zero ends it. */
  void hang(Duration duration) {
    if (hangs() || duration.isPositive()) {
      hang = hangFor(duration);
    }
  }

  boolean hangs() {
    return hang.endNanos > System.nanoTime();
  }

  /** When the hang ends, in milliseconds since 1970; 0 without a hang. */
  long hangUntilMillis() {
    Hang current = hang;
    return current.endNanos > System.nanoTime() ? current.endEpochMillis : 0;
  }

  /**
   * When an answer is due: at its deadline, or at the end of a hang that kept it from that. Both
   * are times of {@link System#nanoTime}.
   */
  long dueNanos(long deadlineNanos) {
    return Math.max(deadlineNanos, hang.endNanos);
  }

  private static Hang hangFor(Duration duration) {
    return new Hang(
        System.nanoTime() + duration.toNanos(), System.currentTimeMillis() + duration.toMillis());
  }
}
