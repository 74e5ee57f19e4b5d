package io.loomlab.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InternalThreadsTest {
  private Map<String, Long> nanos = Map.of();
  private final PrometheusRegistry registry = new PrometheusRegistry();

  InternalThreadsTest() {
    new InternalThreads(() -> nanos).register(registry, "some-approach");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "VM Thread",
        "GC Thread#1",
        "G1 Conc#0",
        "G1 Main Marker",
        "G1 Refine#0",
        "G1 Service",
        "ZWorkerYoung#0",
        "ZDriverMinor",
        "RuntimeWorker#0"
      })
  void collectorsCountAsGarbageCollection(String thread) {
    nanos = Map.of(thread, 1_500_000_000L);
    assertThat(seconds("lab_gc_cpu_seconds")).isEqualTo(1.5);
    assertThat(seconds("lab_jit_cpu_seconds")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"C1 CompilerThread0", "C2 CompilerThread12"})
  void compilersCountAsCompilation(String thread) {
    nanos = Map.of(thread, 1_500_000_000L);
    assertThat(seconds("lab_jit_cpu_seconds")).isEqualTo(1.5);
    assertThat(seconds("lab_gc_cpu_seconds")).isZero();
  }

  @Test
  void totalKeepsWhatEndedThreadsUsed() {
    nanos = Map.of("C2 CompilerThread0", 2_000_000_000L, "C2 CompilerThread1", 1_000_000_000L);
    assertThat(seconds("lab_jit_cpu_seconds")).isEqualTo(3);
    nanos = Map.of("C2 CompilerThread0", 3_000_000_000L);
    assertThat(seconds("lab_jit_cpu_seconds")).isEqualTo(4);
    nanos = Map.of("C2 CompilerThread0", 3_000_000_000L, "C2 CompilerThread1", 500_000_000L);
    assertThat(seconds("lab_jit_cpu_seconds")).isEqualTo(4.5);
  }

  @Test
  void thisJvmTells() {
    assertThat(LabRegistry.create("some-approach").scrape())
        .containsPattern("lab_jit_cpu_seconds_total\\{approach=\"some-approach\"} [0-9.E-]*[1-9]")
        .containsPattern("lab_gc_cpu_seconds_total\\{approach=\"some-approach\"} [0-9.E-]*[1-9]");
  }

  private double seconds(String name) {
    return registry.scrape().stream()
        .filter(metric -> metric.getMetadata().getName().equals(name))
        .map(metric -> ((CounterSnapshot) metric).getDataPoints().getFirst().getValue())
        .findFirst()
        .orElseThrow();
  }
}
