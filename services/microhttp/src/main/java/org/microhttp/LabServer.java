package org.microhttp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * microhttp behind an acceptor of the lab's own. The library's acceptor cannot set TCP_NODELAY,
 * does not tell how many connections are open, and ends for good when descriptors run out or an
 * event loop has ended, as it does by a malformed request behind another one. All that happens per
 * request is the library's: its event loops, parser and writer. It is in the library's package
 * because the loops are package-private.
 */
public final class LabServer implements AutoCloseable {
  private static final String LOOP = ConnectionEventLoop.class.getName();
  private static final long ACCEPT_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int ENDED = -1;

  private final Options options;
  private final ServerSocketChannel listener = ServerSocketChannel.open();
  private final Thread acceptor = new Thread(this::acceptUntilClosed, "acceptor");
  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicLong connectionIds = new AtomicLong();
  private final List<ConnectionEventLoop> loops = new CopyOnWriteArrayList<>();
  private Handler handler;
  private volatile boolean tcpNoDelay;

  /**
   * Binds the port.
   *
   * @throws IOException if it cannot be bound
   */
  public LabServer(Options options) throws IOException {
    this.options = options;
    listener.bind(new InetSocketAddress(options.port()), options.acceptLength());
  }

  /** Whether a thread runs one of the library's event loops, whose own threads are private. */
  public static boolean isEventLoop(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals(LOOP));
  }

  /**
   * Starts serving.
   *
   * @param handler called on an event loop; must neither block nor throw
   */
  public void start(Handler handler) throws IOException {
    this.handler = handler;
    for (int i = 0; i < options.concurrency(); i++) {
      loops.add(startedLoop());
    }
    acceptor.start();
  }

  public Options options() {
    return options;
  }

  public int port() {
    return listener.socket().getLocalPort();
  }

  /** Of the connection accepted last. */
  public boolean tcpNoDelay() {
    return tcpNoDelay;
  }

  /** Connections of all event loops. */
  public long openConnections() {
    return loops.stream().mapToLong(LabServer::connections).filter(count -> count > 0).sum();
  }

  /** Whether it accepts connections. */
  public boolean isServing() {
    return acceptor.isAlive();
  }

  @Override
  public void close() throws IOException {
    stop.set(true);
    listener.close();
  }

  private void acceptUntilClosed() {
    while (listener.isOpen()) {
      try {
        SocketChannel connection = listener.accept();
        connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
        tcpNoDelay = connection.getOption(StandardSocketOptions.TCP_NODELAY);
        leastLoadedLoop().register(connection);
      } catch (ClosedChannelException e) {
        // the listener or, already, the client: the loop's condition tells
      } catch (IOException e) {
        LockSupport.parkNanos(ACCEPT_RETRY_NANOS);
      }
    }
  }

  private ConnectionEventLoop leastLoadedLoop() throws IOException {
    for (int i = 0; i < loops.size(); i++) {
      if (connections(loops.get(i)) == ENDED) {
        loops.set(i, startedLoop());
      }
    }
    return Collections.min(loops, Comparator.comparingInt(LabServer::connections));
  }

  private ConnectionEventLoop startedLoop() throws IOException {
    ConnectionEventLoop loop =
        new ConnectionEventLoop(options, NoopLogger.instance(), handler, connectionIds, stop);
    loop.start();
    return loop;
  }

  private static int connections(ConnectionEventLoop loop) {
    try {
      return loop.numConnections();
    } catch (ClosedSelectorException e) {
      return ENDED;
    }
  }
}
