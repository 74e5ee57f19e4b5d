package io.loomlab.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class HandlerThreadsTest {
  private final HandlerThreads threads = new HandlerThreads();

  @Test
  void aTaskThatIsHandedOverAgainStaysOnItsThread() {
    CompletableFuture<Thread> first = new CompletableFuture<>();
    CompletableFuture<Thread> again = new CompletableFuture<>();
    threads.execute(
        () -> {
          first.complete(Thread.currentThread());
          threads.execute(() -> again.complete(Thread.currentThread()));
        });
    assertThat(first.join().isVirtual()).isTrue();
    assertThat(again.join()).isSameAs(first.join());
  }
}
