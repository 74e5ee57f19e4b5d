package io.loomlab.webflux;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

class WebfluxNettyIdiomaticTest extends ApproachContract {
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

  WebfluxNettyIdiomaticTest() {
    super(new Approach("webflux-netty", Approach.Concurrency.REACTIVE), Settings.Style.IDIOMATIC);
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WithBugs.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void anErrorThatIsNotFatalIsAProblemAndLeavesNothingInFlight() throws Exception {
    assertIsABug("/at-once");
    assertIsABug("/later");
  }
}
