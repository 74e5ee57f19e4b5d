package io.loomlab.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Answer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Alone, since peaks are those of the whole JVM. */
@Isolated
class PeaksTest {
  /** What other threads of the JVM may touch meanwhile. */
  private static final int GROWTH_BYTES = 32 << 20;

  private static final int THREADS = 50;

  @TempDir Path process;

  @Test
  void theMarkIsThatOfTheKernelInBytes() throws IOException {
    Files.writeString(process.resolve("status"), "Name:\tjava\nVmHWM:\t  2048 kB\nVmRSS:\t 9 kB\n");
    assertThat(mark(new Peaks(process))).isEqualTo(2048 * 1024);
  }

  @Test
  void aKernelThatDoesNotTellHasNoMark() throws IOException {
    assertThat(mark(new Peaks(process))).isNaN();
    Files.writeString(process.resolve("status"), "Name:\tjava\n");
    assertThat(mark(new Peaks(process))).isNaN();
  }

  @Test
  void aResetBeginsAnewFromWhatIsThereNow() throws Exception {
    Peaks peaks = new Peaks();
    CountDownLatch done = new CountDownLatch(1);
    List<Thread> waiting =
        Stream.generate(() -> Thread.ofPlatform().start(() -> await(done))).limit(THREADS).toList();
    done.countDown();
    for (Thread thread : waiting) {
      thread.join();
    }
    int peak = ManagementFactory.getThreadMXBean().getPeakThreadCount();
    double before = mark(peaks);

    assertThat(peaks.answer("PUT", null).status()).isEqualTo(200);

    assertThat(ManagementFactory.getThreadMXBean().getPeakThreadCount())
        .isLessThan(peak - THREADS / 2);
    assertThat(mark(peaks)).isPositive().isLessThan(before + GROWTH_BYTES);
  }

  @Test
  void aResetIsAskedForByPutAndIsAllThatIsWritten() throws IOException {
    Files.createFile(process.resolve("clear_refs"));
    Peaks peaks = new Peaks(process);

    assertThat(peaks.answer("GET", null))
        .extracting(Answer::status, Answer::allow)
        .containsExactly(405, "PUT");
    assertThat(process.resolve("clear_refs")).isEmptyFile();
    peaks.answer("PUT", null);
    assertThat(process.resolve("clear_refs")).hasContent("5");
  }

  private static void await(CountDownLatch done) {
    try {
      done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static double mark(Peaks peaks) {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    peaks.bindTo(registry);
    return registry.get("process.memory.hwm").gauge().value();
  }
}
