package io.loomlab.core.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * CPU time of the JVM's own threads that collect garbage or compile, in seconds. The VM thread
 * counts as a collector: it does all the work of the serial one, and prepares the pauses of the
 * others beside its few other duties. What a thread used after the last reading before it ended is
 * lost; the totals never fall.
 */
final class InternalThreads {
  private static final Pattern GC =
      Pattern.compile("VM Thread|GC Thread#.*|G1 .*|Z[A-Z].*|RuntimeWorker#.*");
  private static final Pattern JIT = Pattern.compile(".*CompilerThread\\d+");
  private static final String INTERNALS = "sun.management.HotspotInternal";
  private static final String THREADS = "sun.management:type=HotspotThreading";
  private static final String CPU_TIMES = "InternalThreadCpuTimes";

  private final Callable<Map<String, Long>> cpuNanosByThread;
  private final Map<String, Long> latest = new HashMap<>();
  private long gcNanos;
  private long jitNanos;

  /**
   * @param cpuNanosByThread CPU time so far of every internal thread there is, by its name
   */
  InternalThreads(Callable<Map<String, Long>> cpuNanosByThread) {
    this.cpuNanosByThread = cpuNanosByThread;
  }

  /** Empty where this JVM does not tell: the package is not exported, or it is not HotSpot. */
  static synchronized Optional<InternalThreads> ofThisJvm() {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      ObjectName threads = new ObjectName(THREADS);
      if (!server.isRegistered(threads)) {
        server.createMBean(INTERNALS, null);
      }
      server.getAttribute(threads, CPU_TIMES);
      return Optional.of(new InternalThreads(() -> cpuNanos(server, threads)));
    } catch (JMException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /** Both counters from one reading per scrape. */
  void register(PrometheusRegistry registry, String approach) {
    Labels labels = Labels.of(LabRegistry.APPROACH_TAG, approach);
    registry.register((MultiCollector) () -> snapshots(labels));
  }

  synchronized MetricSnapshots snapshots(Labels labels) {
    try {
      cpuNanosByThread.call().forEach(this::add);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return MetricSnapshots.of(
        counter("lab_gc_cpu_seconds", "CPU time of the garbage collector", gcNanos, labels),
        counter("lab_jit_cpu_seconds", "CPU time of the compilers", jitNanos, labels));
  }

  private void add(String thread, long nanos) {
    long before = latest.getOrDefault(thread, 0L);
    latest.put(thread, nanos);
    boolean anotherOfThatName = nanos < before;
    long added = anotherOfThatName ? nanos : nanos - before;
    if (GC.matcher(thread).matches()) {
      gcNanos += added;
    } else if (JIT.matcher(thread).matches()) {
      jitNanos += added;
    }
  }

  private static CounterSnapshot counter(String name, String help, long nanos, Labels labels) {
    return CounterSnapshot.builder()
        .name(name)
        .help(help)
        .dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(nanos / 1e9).build())
        .build();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Long> cpuNanos(MBeanServer server, ObjectName threads)
      throws JMException {
    return (Map<String, Long>) server.getAttribute(threads, CPU_TIMES);
  }
}
