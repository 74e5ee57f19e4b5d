package io.loomlab.backend;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Figures of one loop. Those per request are written by its thread only: no write contends. */
final class LoopCounters {
  /** Upper bounds of the lateness buckets; the last bucket has none. */
  static final double[] LATENESS_SECONDS = {
    0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1,
    0.2, 0.5, 1, 2, 5, 10
  };

  private static final long[] LATENESS_NANOS = new long[LATENESS_SECONDS.length];

  static {
    for (int i = 0; i < LATENESS_SECONDS.length; i++) {
      LATENESS_NANOS[i] = Math.round(LATENESS_SECONDS[i] * 1e9);
    }
  }

  private final AtomicLong inflight = new AtomicLong();
  private final AtomicLong openConnections = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicLong latenessNanos = new AtomicLong();
  private final AtomicLongArray lateness = new AtomicLongArray(LATENESS_NANOS.length + 1);

  void requestRead() {
    add(inflight, 1);
  }

  void requestDropped() {
    add(inflight, -1);
  }

  void answered(long latenessNanos, boolean failure) {
    add(inflight, -1);
    add(answered, 1);
    if (failure) {
      add(failures, 1);
    }
    add(this.latenessNanos, latenessNanos);
    int bucket = 0;
    while (bucket < LATENESS_NANOS.length && latenessNanos > LATENESS_NANOS[bucket]) {
      bucket++;
    }
    lateness.setOpaque(bucket, lateness.getPlain(bucket) + 1);
  }

  /** From any thread: whoever accepts a connection counts it. */
  void opened() {
    connections.incrementAndGet();
    openConnections.incrementAndGet();
  }

  void closed() {
    openConnections.decrementAndGet();
  }

  long inflight() {
    return inflight.getOpaque();
  }

  long openConnections() {
    return openConnections.getOpaque();
  }

  /** Accepted so far. */
  long connections() {
    return connections.getOpaque();
  }

  long answered() {
    return answered.getOpaque();
  }

  /** Successes that the error share turned into failures. */
  long failures() {
    return failures.getOpaque();
  }

  double latenessSeconds() {
    return latenessNanos.getOpaque() / 1e9;
  }

  /** Answers in a lateness bucket, not cumulative. */
  long lateness(int bucket) {
    return lateness.getOpaque(bucket);
  }

  private static void add(AtomicLong counter, long amount) {
    counter.setOpaque(counter.getPlain() + amount);
  }
}
