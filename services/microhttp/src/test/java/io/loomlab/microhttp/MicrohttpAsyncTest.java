package io.loomlab.microhttp;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MicrohttpAsyncTest extends ApproachContract {
  MicrohttpAsyncTest() {
    super(new Approach("microhttp-async", Approach.Concurrency.COMPLETABLE_FUTURE));
  }

  @Override
  protected Running start(Settings settings) {
    return Applications.start(settings);
  }

  @Test
  void handlersRunOnTheEventLoops() throws Exception {
    assertInbound(
        Map.of(
            "server", "microhttp",
            "version", "0.11",
            "max_connections", "null",
            "executor", "null",
            "max_threads", "null",
            "socket_threads", String.valueOf(1 + Runtime.getRuntime().availableProcessors())));
  }
}
