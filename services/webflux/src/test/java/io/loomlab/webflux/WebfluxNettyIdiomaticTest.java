package io.loomlab.webflux;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;

class WebfluxNettyIdiomaticTest extends ApproachContract {
  WebfluxNettyIdiomaticTest() {
    super(
        new Approach("webflux-netty", Approach.Concurrency.REACTIVE),
        "event-loop",
        Settings.Style.IDIOMATIC);
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WebfluxApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }
}
