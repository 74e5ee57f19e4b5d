package io.loomlab.jetty;

import java.util.Arrays;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.VirtualThreadPool;

/** Jetty's pools, whose threads serve acceptors and selectors, too. */
final class ThreadPools {
  private static final int UNLIMITED = 0;

  private ThreadPools() {}

  /** A thread for each task, however many: Jetty's default is 200 at a time. */
  static VirtualThreadPool virtual() {
    VirtualThreadPool pool = new VirtualThreadPool(UNLIMITED);
    pool.setName("jetty-handler-");
    return pool;
  }

  /** Leaves as many threads for handlers as asked for. */
  static void fit(QueuedThreadPool pool, Server server, int handlers) {
    int others = others(server);
    pool.setMinThreads(Math.min(pool.getMinThreads(), handlers + others));
    pool.setMaxThreads(handlers + others);
  }

  /**
   * Whether a thread that has read a request may go on with it, and lend another to go on reading.
   */
  static String dispatch(Server server) {
    return switch (server.getThreadPool()) {
      case VirtualThreadPool virtual -> "execute-produce-consume";
      case QueuedThreadPool pool when pool.getMaxReservedThreads() > 0 ->
          "execute-produce-consume while one of %d reserved threads is free"
              .formatted(pool.getMaxReservedThreads());
      default -> "produce-execute-consume";
    };
  }

  /** Threads that accept and select. */
  static int others(Server server) {
    return Arrays.stream(server.getConnectors())
        .map(ServerConnector.class::cast)
        .mapToInt(each -> each.getAcceptors() + each.getSelectorManager().getSelectorCount())
        .sum();
  }
}
