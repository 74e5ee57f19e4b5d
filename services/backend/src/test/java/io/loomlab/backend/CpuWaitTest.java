package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuWaitTest {
  @TempDir Path folder;

  @Test
  void readsTheTimeOnTheRunQueueAnewEachTime() throws IOException {
    Path schedstat = Files.writeString(folder.resolve("schedstat"), "1500 42000000 7\n");
    CpuWait wait = new CpuWait(schedstat);
    assertThat(wait.getAsLong()).isEqualTo(42_000_000);
    Files.writeString(schedstat, "99999 18446744073 123456\n");
    assertThat(wait.getAsLong()).isEqualTo(18_446_744_073L);
  }

  @Test
  void isNothingWhereTheKernelDoesNotTell() {
    assertThat(new CpuWait(folder.resolve("missing")).getAsLong()).isZero();
  }

  @Test
  void staysWhereItWasOnceTheKernelNoLongerTells() throws IOException {
    Path schedstat = Files.writeString(folder.resolve("schedstat"), "1500 42000000 7\n");
    CpuWait wait = new CpuWait(schedstat);
    wait.getAsLong();
    Thread.currentThread().interrupt(); // closes the channel
    assertThat(wait.getAsLong()).isEqualTo(42_000_000);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(wait.getAsLong()).isEqualTo(42_000_000);
  }

  @Test
  void growsWhileThreadsCompeteForTheCpus() throws InterruptedException {
    assumeThat(Path.of("/proc/thread-self/schedstat")).exists();
    CpuWait wait = new CpuWait();
    long before = wait.getAsLong();
    Thread[] rivals = new Thread[2 * Runtime.getRuntime().availableProcessors()];
    for (int i = 0; i < rivals.length; i++) {
      rivals[i] = Thread.ofPlatform().daemon().start(CpuWaitTest::spinUntilInterrupted);
    }
    long started = System.nanoTime();
    while (wait.getAsLong() == before && System.nanoTime() - started < 30_000_000_000L) {
      Thread.onSpinWait();
    }
    for (Thread rival : rivals) {
      rival.interrupt();
      rival.join();
    }
    assertThat(wait.getAsLong()).isGreaterThan(before);
  }

  private static void spinUntilInterrupted() {
    while (!Thread.currentThread().isInterrupted()) {
      Thread.onSpinWait();
    }
  }
}
