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

  /** Without threads in reserve, which would serve requests now and then. */
  static QueuedThreadPool platform() {
    QueuedThreadPool pool = new QueuedThreadPool();
    pool.setReservedThreads(0);
    return pool;
  }

  /** Leaves as many threads for handlers as asked for. */
  static void fit(QueuedThreadPool pool, Server server, int handlers) {
    int others = others(server);
    pool.setMinThreads(Math.min(pool.getMinThreads(), handlers + others));
    pool.setMaxThreads(handlers + others);
  }

  /** Threads that accept and select. */
  static int others(Server server) {
    return Arrays.stream(server.getConnectors())
        .map(ServerConnector.class::cast)
        .mapToInt(each -> each.getAcceptors() + each.getSelectorManager().getSelectorCount())
        .sum();
  }
}
