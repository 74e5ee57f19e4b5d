package io.loomlab.core.metrics;

import io.github.mweirauch.micrometer.jvm.extras.ProcessMemoryMetrics;
import io.loomlab.core.memory.Peaks;
import io.loomlab.core.settings.About;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmCompilationMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.java21.instrument.binder.jdk.VirtualThreadMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.core.metrics.Info;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The metrics registry of a process: one common tag, the JVM's and the process's own meters. */
public final class LabRegistry {
  /** Common tag of every series. */
  public static final String APPROACH_TAG = "approach";

  /**
   * Takes locks of every platform thread: a scrape would burden one model alone. {@link Allocation}
   * only adds them up.
   */
  private static final String WALKS_EVERY_THREAD = "jvm.threads.states";

  private static final String NONE = "none";

  private LabRegistry() {}

  public static PrometheusMeterRegistry create(String approach) {
    PrometheusMeterRegistry registry = unbound(approach);
    binders().forEach(binder -> binder.bindTo(registry));
    return registry;
  }

  /** Without the {@link #binders}, for who has filters to add before. */
  public static PrometheusMeterRegistry unbound(String approach) {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry
        .config()
        .commonTags(APPROACH_TAG, approach)
        .meterFilter(MeterFilter.denyNameStartsWith(WALKS_EVERY_THREAD));
    InternalThreads.ofThisJvm()
        .ifPresent(threads -> threads.register(registry.getPrometheusRegistry(), approach));
    return registry;
  }

  /**
   * Tells in the metrics what the approach is: {@code lab_approach_info}, always 1, with the model,
   * the style, the server, the framework and the client as labels, and what is the server's own.
   */
  public static void describe(PrometheusMeterRegistry registry, About about) {
    Info.builder()
        .name("lab_approach_info")
        .help("What the approach is, as /about tells it")
        .labelNames(
            APPROACH_TAG,
            "concurrency",
            "style",
            "server",
            "framework",
            "client",
            "sockets",
            "internals")
        .register(registry.getPrometheusRegistry())
        .setLabelValues(
            about.approach(),
            about.concurrency(),
            about.style(),
            about.inbound().server(),
            Objects.requireNonNullElse(about.inbound().framework(), NONE),
            about.outbound().client(),
            Objects.requireNonNullElse(about.inbound().socketThreadKind(), NONE),
            members(about.inbound().internals()));
  }

  private static String members(Map<String, Object> internals) {
    return internals.isEmpty()
        ? NONE
        : new TreeMap<>(internals)
            .entrySet().stream()
                .map(each -> each.getKey() + ": " + each.getValue())
                .collect(Collectors.joining(", "));
  }

  /** The JVM's and the process's own meters. */
  public static List<MeterBinder> binders() {
    return List.of(
        new JvmMemoryMetrics(),
        new JvmGcMetrics(),
        new JvmThreadMetrics(),
        new VirtualThreadMetrics(),
        new JvmCompilationMetrics(),
        new ClassLoaderMetrics(),
        new ProcessorMetrics(),
        new FileDescriptorMetrics(),
        new UptimeMetrics(),
        new ProcessMemoryMetrics(),
        new Peaks(),
        new Allocation());
  }
}
