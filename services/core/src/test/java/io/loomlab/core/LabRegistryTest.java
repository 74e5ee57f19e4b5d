package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LabRegistryTest {
  @Test
  void scrapeTellsThreadsWithoutWalkingThem() {
    assertThat(LabRegistry.create("x").scrape())
        .contains("jvm_threads_live_threads{approach=\"x\"}")
        .doesNotContain("jvm_threads_states");
  }
}
