package io.loomlab.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LabRegistryTest {
  @Test
  void scrapeTellsWhatTheReportNeedsWithoutWalkingTheThreads() {
    assertThat(LabRegistry.create("x").scrape())
        .contains(
            "process_start_time_seconds{approach=\"x\"}",
            "jvm_compilation_time_ms_total{",
            "jvm_threads_virtual_parallelism{",
            "jvm_threads_virtual_pool_size_threads{",
            "jvm_threads_virtual_live_threads{")
        .doesNotContain("jvm_threads_states");
  }
}
