package io.loomlab.microhttp;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MicrohttpVirtualTest extends ApproachContract {
  MicrohttpVirtualTest() {
    super(new Approach("microhttp-virtual", Approach.Concurrency.VIRTUAL_THREADS));
  }

  @Override
  protected Running start(Settings settings) {
    return Applications.start(settings);
  }

  @Test
  void handlersRunOnAVirtualThreadEach() throws Exception {
    assertInbound(
        Map.of(
            "server", "microhttp",
            "version", "0.11",
            "max_connections", "null",
            "executor", ".ThreadPerTaskExecutor",
            "max_threads", "null",
            "socket_threads", String.valueOf(1 + Runtime.getRuntime().availableProcessors())));
  }
}
