package io.loomlab.core.metrics;

import io.loomlab.core.http.Endpoint;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.LongStream;

/**
 * Server-side request metrics, recorded alike by every approach: from the handler's start until its
 * answer is known. A timer is looked up once per endpoint and status, not once per request.
 */
public final class RequestMetrics {
  private static final int STATUSES = 600;
  private static final String IN_FLIGHT = "lab.inflight.requests";

  /** Upper bounds of the histogram's buckets. */
  public static final List<Duration> BUCKETS = buckets();

  /** Of the histogram. */
  public static final String NAME = "lab.requests";

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
    this(registry, openConnections, eventLoop, null);
  }

  /**
   * For a server whose requests are recorded by its framework.
   *
   * @param underWay requests that have begun and not ended; null: those between {@link #start} and
   *     {@link #stop}
   */
  public RequestMetrics(
      MeterRegistry registry,
      LongSupplier openConnections,
      Predicate<Thread> eventLoop,
      LongSupplier underWay) {
    this.registry = registry;
    this.eventLoop = eventLoop;
    Gauge.builder(IN_FLIGHT, underWay == null ? inflight::sum : underWay, LongSupplier::getAsLong)
        .strongReference(true)
        .register(registry);
    Gauge.builder("lab.open.connections", openConnections, LongSupplier::getAsLong)
        .strongReference(true)
        .register(registry);
  }

  /** Requests under way by the gauge of that registry; null where it has none. */
  static Long inFlight(MeterRegistry registry) {
    Gauge gauge = registry.find(IN_FLIGHT).gauge();
    return gauge == null ? null : Math.round(gauge.value());
  }

  /** Notes a request's start. Call it on the thread that serves the request. */
  public long start(Endpoint endpoint) {
    servedHere(endpoint);
    inflight.increment();
    return System.nanoTime();
  }

  /** Notes the kind of the calling thread, if this is the endpoint's first request. */
  public void servedHere(Endpoint endpoint) {
    if (threadKinds.getAcquire(endpoint.ordinal()) == null) {
      threadKinds.set(endpoint.ordinal(), kindOf(Thread.currentThread()));
    }
  }

  /**
   * Notes a request's end, from any thread. Whoever sees that none is in flight finds all of them
   * recorded.
   *
   * @param started what {@link #start} gave
   */
  public void stop(Endpoint endpoint, long started, int status) {
    timer(endpoint, status).record(System.nanoTime() - started, TimeUnit.NANOSECONDS);
    inflight.decrement();
  }

  /**
   * Per endpoint label, the kind of thread that served its first request, or null; of the
   * database's endpoints only those that were asked.
   */
  public Map<String, String> threadKinds() {
    Map<String, String> kinds = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      String kind = threadKinds.get(endpoint.ordinal());
      if (kind != null || !endpoint.ofDatabase()) {
        kinds.put(endpoint.label(), kind);
      }
    }
    return kinds;
  }

  private Timer timer(Endpoint endpoint, int status) {
    int index = endpoint.ordinal() * STATUSES + status;
    Timer timer = timers.getAcquire(index);
    if (timer == null) {
      timer =
          Timer.builder(NAME)
              .tag("endpoint", endpoint.label())
              .tag("status", String.valueOf(status))
              .serviceLevelObjectives(BUCKETS.toArray(Duration[]::new))
              .register(registry);
      timers.set(index, timer);
    }
    return timer;
  }

  /**
   * From 1 ms to 10 s each is at most 5 % above the one before. Among them are what delays add up
   * to, with finer steps above the flagship's three times 300 ms.
   */
  private static List<Duration> buckets() {
    LongStream steps =
        LongStream.iterate(1_000, micros -> micros <= 10_000_000, micros -> micros + micros / 20);
    LongStream round =
        LongStream.of(100, 200, 300, 500, 900, 910, 925, 950, 1_000, 2_000, 10_000, 20_000, 60_000)
            .map(millis -> 1_000 * millis);
    return LongStream.concat(steps, round)
        .mapToObj(micros -> Duration.of(micros, ChronoUnit.MICROS))
        .toList();
  }

  private String kindOf(Thread thread) {
    if (thread.isVirtual()) {
      return "virtual";
    }
    return eventLoop.test(thread) ? "event-loop" : "platform";
  }
}
