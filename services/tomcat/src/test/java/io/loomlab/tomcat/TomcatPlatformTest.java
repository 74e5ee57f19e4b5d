package io.loomlab.tomcat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TomcatPlatformTest extends ApproachContract {
  TomcatPlatformTest() {
    super(new Approach("tomcat-platform", Approach.Concurrency.PLATFORM_THREADS));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(TomcatApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void handlersRunOnABoundedPool() throws Exception {
    assertInbound(
        Map.of(
            "server",
            "tomcat",
            "max_connections",
            "777",
            "executor",
            ".ThreadPoolExecutor",
            "max_threads",
            "31",
            "socket_thread_kind",
            "platform",
            "internals/processor_cache",
            "-1"));
  }

  @Test
  void oneThreadAcceptsAndOnePolls() throws Exception {
    assertSocketThreadsRun(
        "org.apache.tomcat.util.net.Acceptor", "org.apache.tomcat.util.net.NioEndpoint$Poller");
  }
}
