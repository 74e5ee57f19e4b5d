package io.loomlab.webflux;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;

class VirtualNettyIdiomaticTest extends ApproachContract {
  VirtualNettyIdiomaticTest() {
    super(
        new Approach("virtual-netty", Approach.Concurrency.VIRTUAL_THREADS),
        "virtual",
        Settings.Style.IDIOMATIC);
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WebfluxApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }
}
