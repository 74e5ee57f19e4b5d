package io.loomlab.core.work;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.stream.LongStream;

/**
 * Work that takes CPU time and nothing else: so many iterations per microsecond asked for, and not
 * a look at the clock, so that contention makes it last longer and never makes it less.
 */
public final class CpuWork {
  /** Enough for the loop to be compiled, for calls as short as those of a request, too. */
  private static final long WARM_UP_NANOS = 200_000_000;

  private static final int ITERATIONS_PER_CALL = 1_000;
  private static final int CALLS_PER_SAMPLE = 1_000;
  private static final int SAMPLES = 25;
  private static final long SEED = 0x9E3779B97F4A7C15L;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final int iterationsPerMicrosecond;

  CpuWork(int iterationsPerMicrosecond) {
    this.iterationsPerMicrosecond = iterationsPerMicrosecond;
  }

  /**
   * Calibrated by the caller's thread, a platform thread, in 0.3 s of its CPU time: the shortest of
   * several samples, because CPU time that a hypervisor takes away counts as the thread's, and so
   * others on the host can only add to a sample.
   */
  public static CpuWork calibrated() {
    long started = THREADS.getCurrentThreadCpuTime();
    while (THREADS.getCurrentThreadCpuTime() - started < WARM_UP_NANOS) {
      iterate(ITERATIONS_PER_CALL);
    }
    long shortestNanos =
        LongStream.generate(CpuWork::sampleNanos).limit(SAMPLES).min().orElseThrow();
    long iterations = (long) CALLS_PER_SAMPLE * ITERATIONS_PER_CALL;
    return new CpuWork((int) Math.max(1, Math.round(1e3 * iterations / shortestNanos)));
  }

  /** Works on the caller's thread for about that much of its CPU time. */
  public void spend(int micros) {
    if (micros > 0) {
      iterate((long) micros * iterationsPerMicrosecond);
    }
  }

  public int iterationsPerMicrosecond() {
    return iterationsPerMicrosecond;
  }

  private static long sampleNanos() {
    long started = THREADS.getCurrentThreadCpuTime();
    for (int i = 0; i < CALLS_PER_SAMPLE; i++) {
      iterate(ITERATIONS_PER_CALL);
    }
    return THREADS.getCurrentThreadCpuTime() - started;
  }

  /**
   * Marsaglia's xorshift, which never gives 0. An iteration is a number that is odd: the compiler
   * cannot count them beforehand, so it leaves the loop its safepoint poll, and a collection need
   * not wait for the end of the work.
   */
  private static void iterate(long iterations) {
    long number = SEED;
    for (long odd = 0; odd < iterations; odd += number & 1) {
      number ^= number << 13;
      number ^= number >>> 7;
      number ^= number << 17;
    }
    if (number == 0) {
      throw new IllegalStateException("xorshift gave 0");
    }
  }
}
