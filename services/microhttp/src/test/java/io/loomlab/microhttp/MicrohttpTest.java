package io.loomlab.microhttp;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class MicrohttpTest {
  private abstract static class MicrohttpContract extends ApproachContract {
    private final String executor;

    MicrohttpContract(String label, Concurrency concurrency, String executor) {
      super(new Approach(label, concurrency));
      this.executor = executor;
    }

    @Override
    protected Running start(Settings settings) throws IOException {
      var application = MicrohttpApplication.start(settings);
      return new Running(application.port(), application.managementPort(), application);
    }

    @Test
    void handlersRunOnThreadsOfTheModel() throws Exception {
      assertInbound(
          Map.of(
              "server",
              "microhttp",
              "executor",
              executor,
              "socket_threads",
              String.valueOf(1 + Runtime.getRuntime().availableProcessors())));
    }
  }

  @Nested
  class Async extends MicrohttpContract {
    Async() {
      super("microhttp-async", Concurrency.COMPLETABLE_FUTURE, "null");
    }
  }

  @Nested
  class Platform extends MicrohttpContract {
    Platform() {
      super("microhttp-platform", Concurrency.PLATFORM_THREADS, ".ThreadPoolExecutor");
    }
  }

  @Nested
  class Virtual extends MicrohttpContract {
    Virtual() {
      super("microhttp-virtual", Concurrency.VIRTUAL_THREADS, ".ThreadPerTaskExecutor");
    }
  }
}
