package io.loomlab.webflux;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

class WebfluxTest {
  @Import({WebfluxApplication.class, Bugs.class})
  static class WithBugs {}

  @RestController
  static class Bugs {
    @GetMapping("/at-once")
    Mono<String> atOnce() {
      throw new AssertionError();
    }

    @GetMapping("/later")
    Mono<String> later() {
      return Mono.delay(Duration.ZERO)
          .map(
              tick -> {
                throw new AssertionError();
              });
    }
  }

  private abstract static class WebfluxContract extends ApproachContract {
    private final String executor;

    WebfluxContract(String label, Concurrency concurrency, Style style, String executor) {
      super(new Approach(label, concurrency), style);
      this.executor = executor;
    }

    @Override
    protected Running start(Settings settings) throws IOException {
      var application = LabApplication.run(WithBugs.class, settings);
      return new Running(application.port(), application.managementPort(), application);
    }

    @Test
    void handlersRunOnThreadsOfTheModel() throws Exception {
      assertInbound(
          Map.of(
              "server",
              "netty",
              "executor",
              executor,
              "socket_threads",
              String.valueOf(Math.max(4, Runtime.getRuntime().availableProcessors())),
              "internals/leak_detection",
              "simple",
              "internals/unsafe",
              String.valueOf(Runtime.version().feature() < 24)));
    }
  }

  @Nested
  class Reactive extends WebfluxContract {
    Reactive() {
      super("webflux-netty", Concurrency.REACTIVE, Style.LEAN, "null");
    }
  }

  @Nested
  class ReactiveIdiomatic extends WebfluxContract {
    ReactiveIdiomatic() {
      super("webflux-netty", Concurrency.REACTIVE, Style.IDIOMATIC, "null");
    }

    @Test
    void anErrorThatIsNotFatalIsAProblemAndLeavesNothingInFlight() throws Exception {
      assertIsABug("/at-once");
      assertIsABug("/later");
    }
  }

  @Nested
  class Virtual extends WebfluxContract {
    Virtual() {
      super("virtual-netty", Concurrency.VIRTUAL_THREADS, Style.LEAN, ".SimpleAsyncTaskExecutor");
    }
  }
}
