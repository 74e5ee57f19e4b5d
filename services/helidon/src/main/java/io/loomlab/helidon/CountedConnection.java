package io.loomlab.helidon;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.http1.Http1Connection;
import io.helidon.webserver.spi.ServerConnection;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** A connection of Helidon's that counts as open while it is served. */
record CountedConnection(Http1Connection connection, LongAdder open)
    implements ServerConnection, InterruptableTask<Void> {
  @Override
  public void handle(Limit limit) throws InterruptedException {
    open.increment();
    try {
      connection.handle(limit);
    } finally {
      open.decrement();
    }
  }

  /** Helidon's own goes on counting while a request is served and would end its connection. */
  @Override
  public Duration idleTime() {
    return canInterrupt() ? connection.idleTime() : Duration.ZERO;
  }

  @Override
  public boolean canInterrupt() {
    return connection.canInterrupt();
  }

  @Override
  public void close(boolean interrupt) {
    connection.close(interrupt);
  }
}
