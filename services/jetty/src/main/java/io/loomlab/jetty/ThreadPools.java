package io.loomlab.jetty;

import java.util.Arrays;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ReservedThreadExecutor;
import org.eclipse.jetty.util.thread.VirtualThreadPool;

/** Jetty's pools, whose threads serve acceptors and selectors, too. */
final class ThreadPools {
  private static final int UNLIMITED = 0;
  private static final int AS_JETTY_CHOOSES = -1;

  private ThreadPools() {}

  /** A thread for each task, however many: Jetty's default is 200 at a time. */
  static VirtualThreadPool virtual() {
    VirtualThreadPool pool = new VirtualThreadPool(UNLIMITED);
    pool.setName("jetty-handler-");
    return pool;
  }

  /**
   * Allows as many handler threads as asked for, and those that Jetty keeps in reserve: a parked
   * one serves nobody, but one that is in use may serve a request beyond that number.
   */
  static void fit(QueuedThreadPool pool, Server server, int handlers) {
    int most = handlers + others(server);
    pool.setMinThreads(Math.min(pool.getMinThreads(), most));
    pool.setMaxThreads(most);
    pool.setReservedThreads(ReservedThreadExecutor.reservedThreads(pool, AS_JETTY_CHOOSES));
    pool.setMaxThreads(most + pool.getReservedThreads());
  }

  /**
   * How a thread that has read a request goes on: it serves the request itself while another thread
   * selects (execute-produce-consume), or hands it to another thread (produce-execute-consume).
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
