package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CpuWorkTest {
  private static final int MICROS = 20_000;

  /** In a JVM of its own: works for a second, and meanwhile collects. */
  static final class Worker {
    public static void main(String[] arguments) throws InterruptedException {
      CpuWork cpu = CpuWork.calibrated();
      Thread worker = Thread.ofPlatform().start(() -> cpu.spend(1_000_000));
      Thread.sleep(200);
      long started = System.nanoTime();
      System.gc();
      System.out.println(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started));
      System.out.println(worker.isAlive());
    }
  }

  /** Of code that is compiled later, the first iterations would take longer than the others. */
  @BeforeAll
  static void compile() {
    CpuWork.calibrated();
  }

  @Test
  void workTakesAboutAsMuchCpuTimeAsAskedFor() {
    CpuWork cpu = CpuWork.calibrated();
    assertThat(leastCpuMicros(cpu)).isBetween(MICROS / 2L, MICROS * 2L);
  }

  @Test
  void workIsANumberOfIterationsAndNoTime() {
    long little = leastCpuMicros(new CpuWork(20));
    long much = leastCpuMicros(new CpuWork(200));
    assertThat(much).isBetween(5 * little, 20 * little);
  }

  @Test
  void aCollectionNeedNotWaitForTheEndOfTheWork() throws Exception {
    List<String> told = ChildJvm.lines(Worker.class, "-XX:+UseParallelGC", "-Xmx64m");
    assertThat(told.get(1)).as("the work goes on after the collection").isEqualTo("true");
    assertThat(Long.parseLong(told.get(0))).isLessThan(500);
  }

  /** Others on the host can only add to it. */
  private static long leastCpuMicros(CpuWork cpu) {
    return LongStream.generate(() -> cpuMicros(cpu)).limit(20).min().orElseThrow();
  }

  private static long cpuMicros(CpuWork cpu) {
    long started = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    cpu.spend(MICROS);
    return (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - started) / 1_000;
  }
}
