package io.loomlab.jetty;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class JettyTest {
  private static final int CPUS = Runtime.getRuntime().availableProcessors();

  private abstract static class JettyContract extends ApproachContract {
    JettyContract(String label, Approach.Concurrency concurrency) {
      super(new Approach(label, concurrency));
    }

    @Override
    protected Running start(Settings settings) throws IOException {
      var application = LabApplication.run(JettyApplication.class, settings);
      return new Running(application.port(), application.managementPort(), application);
    }
  }

  @Nested
  class Platform extends JettyContract {
    Platform() {
      super("jetty-platform", Approach.Concurrency.PLATFORM_THREADS);
    }

    @Test
    void handlersRunOnABoundedPool() throws Exception {
      assertInbound(
          Map.of(
              "server", "jetty",
              "executor", ".QueuedThreadPool",
              "socket_thread_kind", "platform"));
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

  @Nested
  class Virtual extends JettyContract {
    Virtual() {
      super("jetty-virtual", Approach.Concurrency.VIRTUAL_THREADS);
    }

    /**
     * Acceptors and selectors are as many as Jetty chooses: the JVM does not list these threads.
     */
    @Test
    void handlersRunOnAVirtualThreadEach() throws Exception {
      assertInbound(
          Map.of(
              "server", "jetty",
              "executor", ".VirtualThreadPool",
              "socket_threads", String.valueOf(Math.clamp(CPUS / 8, 1, 4) + Math.max(1, CPUS / 2)),
              "socket_thread_kind", "virtual",
              "internals/dispatch", "execute-produce-consume"));
    }
  }
}
