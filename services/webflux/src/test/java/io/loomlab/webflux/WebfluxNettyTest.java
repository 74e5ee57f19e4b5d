package io.loomlab.webflux;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WebfluxNettyTest extends ApproachContract {
  WebfluxNettyTest() {
    super(new Approach("webflux-netty", Approach.Concurrency.REACTIVE));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WebfluxApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void handlersRunOnTheEventLoops() throws Exception {
    assertInbound(
        Map.of(
            "server",
            "netty",
            "max_connections",
            "null",
            "executor",
            "null",
            "max_threads",
            "null",
            "socket_threads",
            String.valueOf(Math.max(4, Runtime.getRuntime().availableProcessors())),
            "internals/leak_detection",
            "simple",
            "internals/unsafe",
            String.valueOf(Runtime.version().feature() < 24)));
  }
}
