package io.loomlab.tomcat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

class TomcatVirtualIdiomaticTest extends ApproachContract {
  @Import({TomcatApplication.class, Bug.class})
  static class WithBug {}

  @RestController
  static class Bug {
    @GetMapping("/bug")
    String bug() {
      throw new StackOverflowError();
    }
  }

  TomcatVirtualIdiomaticTest() {
    super(
        new Approach("tomcat-virtual", Approach.Concurrency.VIRTUAL_THREADS),
        Settings.Style.IDIOMATIC);
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WithBug.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void anErrorIsAProblemAndLeavesNothingInFlight() throws Exception {
    assertIsABug("/bug");
  }
}
