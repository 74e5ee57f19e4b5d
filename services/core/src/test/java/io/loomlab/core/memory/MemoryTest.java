package io.loomlab.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.metrics.Allocation;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MemoryTest {
  private static final int KIBIBYTE = 1 << 10;
  private static final int MEBIBYTE = 1 << 20;
  private static final int THREADS = 100;
  private static final int LIVE_BYTES = 64 * MEBIBYTE;
  private static final int PIECE_BYTES = 64 << 10;

  /** What the JVM itself, the test's libraries and, in ZGC, half-empty pages add. */
  private static final int OTHERS_BYTES = 40 * MEBIBYTE;

  /**
   * In a JVM of its own: holds something, lets go of more, also once it was collected, and tells
   * its memory and what others than the thread that tells have allocated.
   */
  static final class Holder {
    private static volatile byte[] last;

    public static void main(String[] arguments) throws InterruptedException {
      List<byte[]> live = pieces().toList();
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      new Allocation().bindTo(registry);
      FunctionCounter allocated = registry.get("lab.allocated").functionCounter();
      double before = allocated.count();
      Thread.ofVirtual().start(() -> pieces().forEach(piece -> last = piece)).join();
      pieces().forEach(piece -> last = piece);
      long added = Math.round(allocated.count() - before);
      Memory memory = new Memory(new ProcessMemory(), () -> 7L, Holder::collectAndGoOn);
      tell(memory, "GET");
      park(THREADS);
      tell(memory, "POST");
      System.out.println(added);
      Reference.reachabilityFence(live);
    }

    private static void collectAndGoOn() {
      System.gc();
      pieces().forEach(piece -> last = piece);
    }

    private static void tell(Memory memory, String method) {
      byte[] told = memory.answer(method, null).body();
      System.out.println(new String(told, StandardCharsets.UTF_8));
    }

    private static void park(int threads) throws InterruptedException {
      CountDownLatch parked = new CountDownLatch(threads);
      for (int i = 0; i < threads; i++) {
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  parked.countDown();
                  LockSupport.park();
                });
      }
      parked.await();
    }

    private static Stream<byte[]> pieces() {
      return Stream.generate(() -> new byte[PIECE_BYTES]).limit(LIVE_BYTES / PIECE_BYTES);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"UseParallelGC", "UseSerialGC", "UseG1GC", "UseZGC"})
  void everyCollectorLeavesWhatIsHeldAndEveryAllocationOfOthersIsCounted(String collector)
      throws Exception {
    long started = System.nanoTime();
    List<String> told = ChildJvm.lines(Holder.class, "-XX:+" + collector, "-Xms512m", "-Xmx512m");
    long tookMillis = (System.nanoTime() - started) / 1_000_000;
    JsonNode without = JsonMapper.shared().readTree(told.get(0));
    JsonNode after = JsonMapper.shared().readTree(told.get(1));

    assertThat(without.get("heap_used_bytes").asLong()).isGreaterThan(LIVE_BYTES);
    assertThat(without.get("collection_ms").isNull()).isTrue();
    assertThat(after.get("heap_used_bytes").asLong())
        .isBetween((long) LIVE_BYTES, (long) LIVE_BYTES + OTHERS_BYTES);
    assertThat(after.get("collection_ms").isNumber()).isTrue();
    assertThat(after.get("collection_ms").asLong()).isBetween(0L, tookMillis);
    long heap = after.get("heap_rss_anon_bytes").asLong();
    if (collector.equals("UseZGC")) {
      assertThat(heap).isZero();
    } else {
      assertThat(heap).isBetween((long) LIVE_BYTES, 512L * MEBIBYTE);
    }
    assertThat(after.get("rss_anon_bytes").asLong() - heap)
        .isBetween((long) MEBIBYTE, 256L * MEBIBYTE);
    long stacks = after.get("thread_stack_bytes").asLong();
    assertThat(stacks - without.get("thread_stack_bytes").asLong())
        .isBetween(THREADS * 4L * KIBIBYTE, THREADS * 512L * KIBIBYTE);
    assertThat(Long.parseLong(told.get(2)))
        .isBetween((long) LIVE_BYTES, (long) LIVE_BYTES + OTHERS_BYTES);
  }

  @Test
  void theHeapAfterACollectionThatWasNotMadeIsNull() throws Exception {
    List<String> told = ChildJvm.lines(Holder.class, "-XX:+DisableExplicitGC", "-Xmx512m");
    JsonNode after = JsonMapper.shared().readTree(told.get(1));

    assertThat(after.get("heap_used_bytes").isNull()).isTrue();
    assertThat(after.get("collection_ms").isNull()).isTrue();
    assertThat(after.get("thread_stack_bytes").asLong()).isPositive();
  }

  @Test
  void whatCannotBeHadIsNull(@TempDir Path nothing) {
    Memory memory = new Memory(new ProcessMemory(nothing, nothing), () -> null, System::gc);
    JsonNode told = JsonMapper.shared().readTree(memory.answer("GET", null).body());
    assertThat(told.get("heap_used_bytes").asLong()).isPositive();
    for (String member :
        List.of(
            "rss_anon_bytes",
            "heap_rss_anon_bytes",
            "threads",
            "thread_stack_bytes",
            "kernel_bytes",
            "requests_in_flight")) {
      assertThat(told.get(member).isNull()).as(member).isTrue();
    }
  }
}
