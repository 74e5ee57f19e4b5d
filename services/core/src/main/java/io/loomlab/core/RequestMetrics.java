package io.loomlab.core;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Server-side request metrics, recorded alike by every approach: from the handler's start until its
 * answer is known. A timer is looked up once per endpoint and status, not once per request.
 */
public final class RequestMetrics {
  private static final int STATUSES = 600;
  private static final Duration[] BUCKETS =
      IntStream.of(
              1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 700, 900, 910, 925, 950, 1_000, 1_100, 1_250,
              1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 60_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Predicate<Thread> eventLoop;
  private final LongAdder inflight = new LongAdder();
  private final Endpoint[] endpoints = Endpoint.values();
  private final AtomicReferenceArray<Timer> timers =
      new AtomicReferenceArray<>(endpoints.length * STATUSES);
  private final AtomicReferenceArray<String> threadKinds =
      new AtomicReferenceArray<>(endpoints.length);

  /**
   * @param openConnections inbound connections, read when metrics are scraped
   * @param eventLoop tells the server's event loops from other platform threads
   */
  public RequestMetrics(
      MeterRegistry registry, LongSupplier openConnections, Predicate<Thread> eventLoop) {
    this.registry = registry;
    this.eventLoop = eventLoop;
    Gauge.builder("lab.inflight.requests", inflight, LongAdder::sum).register(registry);
    Gauge.builder("lab.open.connections", openConnections, LongSupplier::getAsLong)
        .strongReference(true)
        .register(registry);
  }

  /** Notes a request's start. Call it on the thread that serves the request. */
  public long start(Endpoint endpoint) {
    if (threadKinds.getAcquire(endpoint.ordinal()) == null) {
      threadKinds.set(endpoint.ordinal(), kindOf(Thread.currentThread()));
    }
    inflight.increment();
    return System.nanoTime();
  }

  /** Notes a request's end, from any thread; {@code started} is what {@link #start} gave. */
  public void stop(Endpoint endpoint, long started, int status) {
    inflight.decrement();
    timer(endpoint, status).record(System.nanoTime() - started, TimeUnit.NANOSECONDS);
  }

  /** Per endpoint label, the kind of thread that served its first request, or null. */
  public Map<String, String> threadKinds() {
    Map<String, String> kinds = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      kinds.put(endpoint.label(), threadKinds.get(endpoint.ordinal()));
    }
    return kinds;
  }

  private Timer timer(Endpoint endpoint, int status) {
    int index = endpoint.ordinal() * STATUSES + status;
    Timer timer = timers.getAcquire(index);
    if (timer == null) {
      timer =
          Timer.builder("lab.requests")
              .tag("endpoint", endpoint.label())
              .tag("status", String.valueOf(status))
              .serviceLevelObjectives(BUCKETS)
              .register(registry);
      timers.set(index, timer);
    }
    return timer;
  }

  private String kindOf(Thread thread) {
    if (thread.isVirtual()) {
      return "virtual";
    }
    return eventLoop.test(thread) ? "event-loop" : "platform";
  }
}
