package io.loomlab.tomcat;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.Approach;
import io.loomlab.contract.Settings;
import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.FaultContract;
import io.loomlab.contract.tests.Running;
import java.io.IOException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class TomcatVirtualTest {
  @Nested
  class WithABackend extends ApproachContract {
    WithABackend() {
      super(Approach.TOMCAT_VIRTUAL, "virtual");
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }

    @Test
    void handlersRunOnAVirtualThreadEach() throws IOException, InterruptedException {
      JsonNode inbound = about().at("/inbound");
      assertThat(inbound.at("/server").asString()).isEqualTo("tomcat");
      assertThat(inbound.at("/max_connections").asInt()).isEqualTo(777);
      assertThat(inbound.at("/executor").asString()).endsWith(".VirtualThreadExecutor");
      assertThat(inbound.at("/max_threads").isNull()).isTrue();
    }
  }

  @Nested
  class WithAFaultyBackend extends FaultContract {
    WithAFaultyBackend() {
      super(Approach.TOMCAT_VIRTUAL);
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }
  }
}
