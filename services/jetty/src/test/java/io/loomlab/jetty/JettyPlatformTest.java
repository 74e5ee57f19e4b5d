package io.loomlab.jetty;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JettyPlatformTest extends ApproachContract {
  JettyPlatformTest() {
    super(new Approach("jetty-platform", Approach.Concurrency.PLATFORM_THREADS));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(JettyApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void handlersRunOnABoundedPool() throws Exception {
    assertInbound(
        Map.of(
            "server",
            "jetty",
            "max_connections",
            "777",
            "executor",
            ".QueuedThreadPool",
            "max_threads",
            "31",
            "socket_thread_kind",
            "platform"));
  }

  @Test
  void platformThreadsAcceptAndSelect() throws Exception {
    assertSocketThreadsRun(
        "org.eclipse.jetty.server.AbstractConnector$Acceptor",
        "org.eclipse.jetty.io.ManagedSelector$SelectorProducer");
  }

  @Test
  void aThreadThatHasReadARequestServesItWhileAnotherIsInReserve() throws Exception {
    assertThat(about().at("/inbound/internals/dispatch").asString())
        .matches("execute-produce-consume while one of [1-9]\\d* reserved threads is free");
  }
}
