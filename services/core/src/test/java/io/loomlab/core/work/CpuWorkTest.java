package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.memory.ChildJvm;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.DoubleSupplier;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Alone, since others that run beside it can only add to a try. */
@Isolated
class CpuWorkTest {
  private static final int MICROS = 20_000;
  private static final int LONG_MICROS = 1_000_000;
  private static final int TRIES = 5;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** In a JVM of its own: works for long, meanwhile collects, and tells how far the work was. */
  static final class Worker {
    public static void main(String[] arguments) {
      CpuWork cpu = CpuWork.calibrated();
      for (int i = 0; i < TRIES; i++) {
        Thread worker = Thread.ofPlatform().daemon().start(() -> cpu.spend(LONG_MICROS));
        while (worker.isAlive() && cpuMicros(worker) < MICROS) {
          Thread.onSpinWait();
        }
        System.gc();
        System.out.println(cpuMicros(worker));
      }
    }
  }

  /** Of code that is compiled later, the first iterations would take longer than the others. */
  @BeforeAll
  static void compile() {
    CpuWork.calibrated();
  }

  @Test
  void workTakesAboutAsMuchCpuTimeAsAskedFor() {
    assertIsOnceBetween(0.5, 2, () -> leastCpuMicros(CpuWork.calibrated()) / MICROS);
  }

  @Test
  void workIsANumberOfIterationsAndNoTime() {
    assertIsOnceBetween(
        5, 20, () -> leastCpuMicros(new CpuWork(200)) / leastCpuMicros(new CpuWork(20)));
  }

  @Test
  void aCollectionNeedNotWaitForTheEndOfTheWork() throws Exception {
    assertThat(ChildJvm.lines(Worker.class, "-XX:+UseParallelGC", "-Xmx64m"))
        .extracting(Long::parseLong)
        .anyMatch(micros -> micros >= MICROS && micros < LONG_MICROS / 2);
  }

  private static void assertIsOnceBetween(double least, double most, DoubleSupplier ratio) {
    double[] tries =
        DoubleStream.generate(ratio).limit(TRIES).takeWhile(r -> r < least || r > most).toArray();
    assertThat(tries).hasSizeLessThan(TRIES);
  }

  private static double leastCpuMicros(CpuWork cpu) {
    return LongStream.generate(() -> cpuMicros(cpu)).limit(20).min().orElseThrow();
  }

  private static long cpuMicros(CpuWork cpu) {
    long started = THREADS.getCurrentThreadCpuTime();
    cpu.spend(MICROS);
    return (THREADS.getCurrentThreadCpuTime() - started) / 1_000;
  }

  /** Negative once it has ended. */
  private static long cpuMicros(Thread thread) {
    return Math.floorDiv(THREADS.getThreadCpuTime(thread.threadId()), 1_000);
  }
}
