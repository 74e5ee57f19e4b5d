package io.loomlab.tomcat;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

class TomcatTest {
  @Import({TomcatApplication.class, Bug.class})
  static class WithBug {}

  @RestController
  static class Bug {
    @GetMapping("/bug")
    String bug() {
      throw new StackOverflowError();
    }
  }

  private abstract static class TomcatContract extends ApproachContract {
    private final String executor;

    TomcatContract(String label, Concurrency concurrency, Style style, String executor) {
      super(new Approach(label, concurrency), style);
      this.executor = executor;
    }

    @Override
    protected Running start(Settings settings) throws IOException {
      var application = LabApplication.run(WithBug.class, settings);
      return new Running(application.port(), application.managementPort(), application);
    }

    @Test
    void handlersRunOnThreadsOfTheModel() throws Exception {
      assertInbound(
          Map.of(
              "server", "tomcat",
              "executor", executor,
              "socket_thread_kind", "platform",
              "internals/processor_cache", "-1"));
    }

    @Test
    void oneThreadAcceptsAndOnePolls() throws Exception {
      assertSocketThreadsRun(
          "org.apache.tomcat.util.net.Acceptor", "org.apache.tomcat.util.net.NioEndpoint$Poller");
    }
  }

  @Nested
  class Platform extends TomcatContract {
    Platform() {
      super("tomcat-platform", Concurrency.PLATFORM_THREADS, Style.LEAN, ".ThreadPoolExecutor");
    }

    @Test
    void keepAliveEndsAConnectionThatNeverAsked() throws IOException {
      Settings impatient = settings(Duration.ofMillis(300));
      try (var application = LabApplication.run(WithBug.class, impatient);
          Socket socket = new Socket(InetAddress.getLoopbackAddress(), application.port())) {
        socket.setSoTimeout(15_000);
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
      }
    }
  }

  @Nested
  class Virtual extends TomcatContract {
    Virtual() {
      super("tomcat-virtual", Concurrency.VIRTUAL_THREADS, Style.LEAN, ".VirtualThreadExecutor");
    }
  }

  @Nested
  class VirtualIdiomatic extends TomcatContract {
    VirtualIdiomatic() {
      super(
          "tomcat-virtual", Concurrency.VIRTUAL_THREADS, Style.IDIOMATIC, ".VirtualThreadExecutor");
    }

    @Test
    void anErrorIsAProblemAndLeavesNothingInFlight() throws Exception {
      assertIsABug("/bug");
    }
  }
}
