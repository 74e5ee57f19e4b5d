package io.loomlab.backend;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;

/** Deals new connections out to the loops in turn. Runs on the loop that it listens on. */
final class Acceptor {
  private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

  private final ServerSocketChannel listener;
  private final List<EventLoop> loops;
  private final int maxConnections;
  private int next;

  Acceptor(ServerSocketChannel listener, List<EventLoop> loops, int maxConnections) {
    this.listener = listener;
    this.loops = loops;
    this.maxConnections = maxConnections;
  }

  void accept(EventLoop loop, SelectionKey key) {
    try {
      while (openConnections() < maxConnections) {
        SocketChannel channel = listener.accept();
        if (channel == null) {
          return;
        }
        loops.get(next).adopt(channel);
        next = (next + 1) % loops.size();
      }
    } catch (IOException e) {
      System.err.println("A connection could not be accepted: " + e.getMessage());
    }
    pause(loop, key);
  }

  private long openConnections() {
    return loops.stream().mapToLong(each -> each.counters().openConnections()).sum();
  }

  private static void pause(EventLoop loop, SelectionKey key) {
    if (key.isValid()) {
      key.interestOps(0);
      loop.at(System.nanoTime() + PAUSE_NANOS, () -> key.interestOps(SelectionKey.OP_ACCEPT));
    }
  }
}
