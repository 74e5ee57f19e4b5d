package io.loomlab.tomcat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;

class TomcatVirtualIdiomaticTest extends ApproachContract {
  TomcatVirtualIdiomaticTest() {
    super(
        new Approach("tomcat-virtual", Approach.Concurrency.VIRTUAL_THREADS),
        "virtual",
        Settings.Style.IDIOMATIC);
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(TomcatApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }
}
