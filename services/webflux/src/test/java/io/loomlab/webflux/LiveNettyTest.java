package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.settings.About;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

class LiveNettyTest {
  @Test
  void whoAsksBeforeTheServerIsBoundWaitsUntilItIs() throws Exception {
    LiveNetty live = new LiveNetty(null);
    HttpServer server = live.watch(HttpServer.create().port(0).idleTimeout(Duration.ofMinutes(1)));
    FutureTask<About.Inbound> about = new FutureTask<>(live::about);
    Thread asking = Thread.ofPlatform().start(about);
    while (asking.isAlive() && asking.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }

    DisposableServer bound = server.bindNow();
    try {
      assertThat(about.get(30, TimeUnit.SECONDS).server()).isEqualTo("netty");
    } finally {
      bound.disposeNow();
    }
  }
}
