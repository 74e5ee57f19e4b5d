package io.loomlab.jetty;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JettyVirtualTest extends ApproachContract {
  private static final int CPUS = Runtime.getRuntime().availableProcessors();

  JettyVirtualTest() {
    super(new Approach("jetty-virtual", Approach.Concurrency.VIRTUAL_THREADS));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(JettyApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  /** Acceptors and selectors are as many as Jetty chooses: the JVM does not list these threads. */
  @Test
  void handlersRunOnAVirtualThreadEach() throws Exception {
    assertInbound(
        Map.of(
            "server",
            "jetty",
            "max_connections",
            "777",
            "executor",
            ".VirtualThreadPool",
            "max_threads",
            "null",
            "socket_threads",
            String.valueOf(Math.clamp(CPUS / 8, 1, 4) + Math.max(1, CPUS / 2)),
            "socket_thread_kind",
            "virtual",
            "internals/dispatch",
            "execute-produce-consume"));
  }
}
