package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.contract.tests.ApproachContract;
import io.loomlab.contract.tests.Running;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VirtualNettyTest extends ApproachContract {
  VirtualNettyTest() {
    super(new Approach("virtual-netty", Approach.Concurrency.VIRTUAL_THREADS));
  }

  @Override
  protected Running start(Settings settings) throws IOException {
    var application = LabApplication.run(WebfluxApplication.class, settings);
    return new Running(application.port(), application.managementPort(), application::close);
  }

  @Test
  void handlersRunOnAVirtualThreadEach() throws Exception {
    assertInbound(
        Map.of(
            "server",
            "netty",
            "max_connections",
            "null",
            "executor",
            ".HandlerThreads",
            "max_threads",
            "null",
            "socket_threads",
            String.valueOf(Math.max(4, Runtime.getRuntime().availableProcessors())),
            "internals/leak_detection",
            "simple",
            "internals/unsafe",
            String.valueOf(Runtime.version().feature() < 24)));
  }

  @Test
  void itSharesTheClientOfWebfluxNetty() throws Exception {
    assertThat(about().at("/outbound/client").asString()).isEqualTo("reactor-netty");
  }
}
