package io.loomlab.backend;

import io.loomlab.core.metrics.LabRegistry;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Publishes the loops' counters; they are summed up when somebody scrapes. */
final class BackendMetrics {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private BackendMetrics() {}

  static void bind(PrometheusMeterRegistry registry, Behaviour behaviour, List<EventLoop> loops) {
    Gauge.builder("backend.delay", behaviour, each -> each.delay().meanMillis() / 1e3)
        .baseUnit("seconds")
        .register(registry);
    Gauge.builder("backend.hanging", behaviour, each -> each.hangs() ? 1 : 0).register(registry);
    gauge(registry, "backend.inflight.requests", loops, LoopCounters::inflight);
    gauge(registry, "backend.open.connections", loops, LoopCounters::openConnections);
    counter(registry, "backend.requests", loops, LoopCounters::answered);
    counter(registry, "backend.errors", loops, LoopCounters::failures);
    counter(registry, "backend.connections", loops, LoopCounters::connections);
    for (int i = 0; i < loops.size(); i++) {
      FunctionCounter.builder("backend.loop.cpu", loops.get(i), BackendMetrics::cpuSeconds)
          .baseUnit("seconds")
          .tag("loop", String.valueOf(i))
          .register(registry);
    }
    registry.getPrometheusRegistry().register((Collector) () -> lateness(loops));
  }

  private static void gauge(
      MeterRegistry registry,
      String name,
      List<EventLoop> loops,
      ToDoubleFunction<LoopCounters> figure) {
    Gauge.builder(name, loops, all -> sum(all, figure)).register(registry);
  }

  private static void counter(
      MeterRegistry registry,
      String name,
      List<EventLoop> loops,
      ToDoubleFunction<LoopCounters> figure) {
    FunctionCounter.builder(name, loops, all -> sum(all, figure)).register(registry);
  }

  private static double sum(List<EventLoop> loops, ToDoubleFunction<LoopCounters> figure) {
    return loops.stream().mapToDouble(loop -> figure.applyAsDouble(loop.counters())).sum();
  }

  private static double cpuSeconds(EventLoop loop) {
    return Math.max(0, THREADS.getThreadCpuTime(loop.threadId())) / 1e9;
  }

  private static HistogramSnapshot lateness(List<EventLoop> loops) {
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    int bounds = LoopCounters.LATENESS_SECONDS.length;
    for (int i = 0; i <= bounds; i++) {
      int bucket = i;
      double bound =
          bucket < bounds ? LoopCounters.LATENESS_SECONDS[bucket] : Double.POSITIVE_INFINITY;
      buckets.bucket(bound, (long) sum(loops, counters -> counters.lateness(bucket)));
    }
    return HistogramSnapshot.builder()
        .name("backend_lateness_seconds")
        .help("Longest that an answer may have been due, a hang over, before the socket had it")
        .dataPoint(
            HistogramSnapshot.HistogramDataPointSnapshot.builder()
                .labels(Labels.of(LabRegistry.APPROACH_TAG, "backend"))
                .classicHistogramBuckets(buckets.build())
                .sum(sum(loops, LoopCounters::latenessSeconds))
                .build())
        .build();
  }
}
