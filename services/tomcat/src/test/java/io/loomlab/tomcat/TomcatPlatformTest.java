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

class TomcatPlatformTest {
  @Nested
  class WithABackend extends ApproachContract {
    WithABackend() {
      super(Approach.TOMCAT_PLATFORM, "platform");
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }

    @Test
    void handlersRunOnABoundedPool() throws IOException, InterruptedException {
      JsonNode inbound = about().at("/inbound");
      assertThat(inbound.at("/server").asString()).isEqualTo("tomcat");
      assertThat(inbound.at("/max_connections").asInt()).isEqualTo(777);
      assertThat(inbound.at("/executor").asString()).endsWith(".ThreadPoolExecutor");
      assertThat(inbound.at("/max_threads").asInt()).isEqualTo(31);
    }
  }

  @Nested
  class WithAFaultyBackend extends FaultContract {
    WithAFaultyBackend() {
      super(Approach.TOMCAT_PLATFORM);
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }
  }
}
