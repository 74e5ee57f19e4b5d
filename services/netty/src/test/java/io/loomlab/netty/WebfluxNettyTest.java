package io.loomlab.netty;

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

class WebfluxNettyTest {
  @Nested
  class WithABackend extends ApproachContract {
    WithABackend() {
      super(Approach.WEBFLUX_NETTY, "event-loop");
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }

    @Test
    void handlersRunOnTheEventLoops() throws IOException, InterruptedException {
      JsonNode inbound = about().at("/inbound");
      assertThat(inbound.at("/server").asString()).isEqualTo("netty");
      assertThat(inbound.at("/event_loops").asInt()).isPositive();
      assertThat(inbound.at("/executor").isNull()).isTrue();
    }
  }

  @Nested
  class WithAFaultyBackend extends FaultContract {
    WithAFaultyBackend() {
      super(Approach.WEBFLUX_NETTY);
    }

    @Override
    protected Running start(Settings settings) {
      return Applications.start(settings);
    }
  }
}
