package io.loomlab.core.memory;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Json;
import io.loomlab.core.metrics.ManagementServer;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Tells what the process holds now, after a full collection if that is asked for. */
public final class Memory implements ManagementServer.Handler {
  public static final String PATH = "/memory";

  /** Beans of what collects the whole heap, in the four collectors. */
  private static final Set<String> FULL =
      Set.of(
          "MarkSweepCompact",
          "PS MarkSweep",
          "G1 Old Generation",
          "ZGC Major Cycles",
          "ZGC Cycles");

  private final ProcessMemory process;
  private final Supplier<Long> requestsInFlight;
  private final Runnable collector;

  /**
   * @param requestsInFlight gives null where nobody counts them
   */
  public Memory(Supplier<Long> requestsInFlight) {
    this(new ProcessMemory(), requestsInFlight, System::gc);
  }

  Memory(ProcessMemory process, Supplier<Long> requestsInFlight, Runnable collector) {
    this.process = process;
    this.requestsInFlight = requestsInFlight;
    this.collector = collector;
  }

  /**
   * What cannot be had is null. All but the heap is read before the collection, while the requests
   * wait undisturbed.
   *
   * @param heapUsedBytes after the collection, null if the collector made none; as it is where none
   *     was asked for
   * @param rssAnonBytes resident anonymous memory, the heap's touched part and all stacks in it
   * @param heapRssAnonBytes the heap's part of that, 0 with ZGC, whose heap is shared memory
   * @param threads of the operating system
   * @param threadStackBytes the part of that in Java threads' stacks
   * @param kernelBytes the kernel's for the container
   * @param collectionMs how long the collection took, null without one
   */
  record Held(
      Long heapUsedBytes,
      Long rssAnonBytes,
      Long heapRssAnonBytes,
      Long threads,
      Long threadStackBytes,
      Long kernelBytes,
      Long requestsInFlight,
      Long collectionMs) {}

  @Override
  public Answer answer(String method, String query) {
    return switch (method) {
      case "GET" -> Answer.json(Json.bytes(held(false)));
      case "POST" -> Answer.json(Json.bytes(held(true)));
      default -> ManagementServer.wrongMethod("GET,POST");
    };
  }

  private Held held(boolean afterCollection) {
    Long rssAnonBytes = process.rssAnonBytes();
    Optional<HeapRange> heap = HeapRange.ofThisJvm();
    ProcessMemory.Parts parts = process.rssAnonParts(heap.orElse(HeapRange.NOT_ANONYMOUS));
    Long threads = process.threads();
    Long kernelBytes = process.kernelBytes();
    Long inFlight = requestsInFlight.get();
    Long collectionMs = afterCollection ? collect() : null;
    return new Held(
        heapUsedBytes(afterCollection, collectionMs),
        rssAnonBytes,
        heap.map(range -> parts.heapBytes()).orElse(null),
        threads,
        parts.threadStackBytes(),
        kernelBytes,
        inFlight,
        collectionMs);
  }

  /**
   * Full, and over when it returns, in the serial, the parallel, the G1 and the Z collector; null
   * if the collector made none, because an option of the JVM forbade it.
   */
  private Long collect() {
    long before = collections();
    long started = System.nanoTime();
    collector.run();
    long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
    return collections() == before ? null : tookMs;
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(collector -> FULL.contains(collector.getName()))
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  private static Long heapUsedBytes(boolean afterCollection, Long collectionMs) {
    if (!afterCollection) {
      return heapNow();
    }
    return collectionMs == null ? null : heapAfterCollection();
  }

  private static long heapNow() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** As the collector left it, before the requests went on. */
  private static long heapAfterCollection() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage)
        .mapToLong(usage -> usage.getUsed())
        .sum();
  }
}
