import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a wait for a socket costs: clients write 64 bytes and read as many, which a server sends back after a delay.
 *
 * <p>{@code server PORT DELAY_MS} answers; {@code MODEL TIMEOUT_MS CLIENTS WAITS PORT} asks, and prints the CPU time of its
 * process per wait, in microseconds, after a third of the waits as a warm-up. MODEL is platform, virtual, loop or blocking; a
 * TIMEOUT_MS of 0 is none. Sockets are connected with a time-out, as clients do, after which a platform thread polls before it
 * reads ({@code NioSocketImpl}); blocking is a platform thread whose sockets were connected without one. The loop's time-outs are as Netty's ReadTimeoutHandler keeps them: one task a connection, which looks when it last read.
 */
final class Waiting {
  private static final int BYTES = 64;
  private static final int WARM_UP_SHARE = 3;
  private static final int CONNECT_TIMEOUT_MS = 5_000;

  private Waiting() {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) {
      serve(Integer.parseInt(args[1]), Duration.ofMillis(Integer.parseInt(args[2])).toNanos());
      return;
    }
    int timeoutMillis = Integer.parseInt(args[1]);
    int clients = Integer.parseInt(args[2]);
    long waits = Long.parseLong(args[3]);
    InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[4]));
    Client client =
        switch (args[0]) {
          case "blocking" -> new Threads(Thread.ofPlatform().factory(), server, 0, timeoutMillis, clients);
          case "platform" -> new Threads(Thread.ofPlatform().factory(), server, CONNECT_TIMEOUT_MS, timeoutMillis, clients);
          case "virtual" -> new Threads(Thread.ofVirtual().factory(), server, CONNECT_TIMEOUT_MS, timeoutMillis, clients);
          case "loop" -> new Loop(server, timeoutMillis, clients);
          default -> throw new IllegalArgumentException(args[0]);
        };
    client.load(waits / WARM_UP_SHARE);
    long cpuNanos = cpuNanos();
    long nanos = System.nanoTime();
    client.load(waits);
    nanos = System.nanoTime() - nanos;
    cpuNanos = cpuNanos() - cpuNanos;
    System.out.printf(
        "{\"model\":\"%s\",\"timeout_ms\":%d,\"clients\":%d,\"waits\":%d,\"cpu_us_per_wait\":%.3f,\"cpus\":%.3f}%n",
        args[0], timeoutMillis, clients, waits, cpuNanos / 1e3 / waits, (double) cpuNanos / nanos);
    System.exit(0);
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** Keeps its connections between calls. */
  private interface Client {
    /** So many waits by all connections together. */
    void load(long waits) throws Exception;
  }

  /** A thread for each connection, which blocks. */
  private static final class Threads implements Client {
    private final ThreadFactory factory;
    private final List<Socket> sockets = new ArrayList<>();

    Threads(ThreadFactory factory, InetSocketAddress server, int connectTimeoutMillis, int timeoutMillis, int clients)
        throws IOException {
      this.factory = factory;
      for (int i = 0; i < clients; i++) {
        Socket socket = new Socket();
        socket.connect(server, connectTimeoutMillis);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(timeoutMillis);
        sockets.add(socket);
      }
    }

    @Override
    public void load(long waits) throws InterruptedException {
      AtomicLong left = new AtomicLong(waits);
      CountDownLatch ended = new CountDownLatch(sockets.size());
      for (Socket socket : sockets) {
        factory.newThread(() -> ask(socket, left, ended)).start();
      }
      ended.await();
    }

    private static void ask(Socket socket, AtomicLong left, CountDownLatch ended) {
      byte[] bytes = new byte[BYTES];
      try {
        OutputStream out = socket.getOutputStream();
        InputStream in = socket.getInputStream();
        while (left.decrementAndGet() >= 0) {
          out.write(bytes);
          in.readNBytes(bytes, 0, BYTES);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        ended.countDown();
      }
    }
  }

  /** One thread for all connections. */
  private static final class Loop implements Client {
    private record Check(long nanos, Connection connection) {}

    private static final class Connection {
      private final SocketChannel channel;
      private final ByteBuffer input = ByteBuffer.allocateDirect(BYTES);
      private long readNanos;

      Connection(SocketChannel channel) {
        this.channel = channel;
      }
    }

    private final Selector selector = Selector.open();
    private final ByteBuffer output = ByteBuffer.allocateDirect(BYTES);
    private final List<Connection> connections = new ArrayList<>();
    private final PriorityQueue<Check> checks = new PriorityQueue<>(Comparator.comparingLong(Check::nanos));
    private final long timeoutNanos;
    private long left;
    private long waiting;

    Loop(InetSocketAddress server, int timeoutMillis, int clients) throws IOException {
      timeoutNanos = Duration.ofMillis(timeoutMillis).toNanos();
      for (int i = 0; i < clients; i++) {
        SocketChannel channel = SocketChannel.open(server);
        channel.socket().setTcpNoDelay(true);
        channel.configureBlocking(false);
        Connection connection = new Connection(channel);
        connection.readNanos = System.nanoTime();
        channel.register(selector, SelectionKey.OP_READ, connection);
        connections.add(connection);
        if (timeoutNanos > 0) {
          checks.add(new Check(connection.readNanos + timeoutNanos, connection));
        }
      }
    }

    @Override
    public void load(long waits) throws IOException {
      left = waits;
      for (Connection connection : connections) {
        ask(connection);
      }
      while (waiting > 0) {
        selector.select(this::ready, 1_000);
        for (long now = System.nanoTime(); !checks.isEmpty() && checks.element().nanos <= now; ) {
          Connection connection = checks.remove().connection;
          if (now - connection.readNanos >= timeoutNanos && left > 0) {
            throw new IOException("no answer in time");
          }
          checks.add(new Check(Math.max(connection.readNanos, now) + timeoutNanos, connection));
        }
      }
    }

    private void ready(SelectionKey key) {
      Connection connection = (Connection) key.attachment();
      try {
        if (connection.channel.read(connection.input) < 0) {
          throw new IOException("the server is gone");
        }
        if (!connection.input.hasRemaining()) {
          connection.input.clear();
          connection.readNanos = timeoutNanos > 0 ? System.nanoTime() : 0;
          waiting--;
          ask(connection);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void ask(Connection connection) throws IOException {
      if (left-- > 0) {
        waiting++;
        output.clear();
        connection.channel.write(output);
      }
    }
  }

  private record Due(long nanos, SocketChannel channel) {}

  /** Sends back what it reads, the delay later. */
  private static void serve(int port, long delayNanos) throws IOException {
    Selector selector = Selector.open();
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 16_384);
    listener.configureBlocking(false);
    listener.register(selector, SelectionKey.OP_ACCEPT);
    ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    Queue<Due> dues = new ArrayDeque<>();
    System.out.println("ready");
    while (true) {
      Due next = dues.peek();
      long millis = next == null ? 0 : Math.max(1, (next.nanos - System.nanoTime() + 999_999) / 1_000_000);
      selector.select(millis);
      for (SelectionKey key : selector.selectedKeys()) {
        if (key.isAcceptable()) {
          SocketChannel channel = listener.accept();
          channel.configureBlocking(false);
          channel.socket().setTcpNoDelay(true);
          channel.register(selector, SelectionKey.OP_READ);
          continue;
        }
        buffer.clear();
        SocketChannel channel = (SocketChannel) key.channel();
        if (channel.read(buffer) < 0) {
          channel.close();
        } else {
          dues.add(new Due(System.nanoTime() + delayNanos, channel));
        }
      }
      selector.selectedKeys().clear();
      for (long now = System.nanoTime(); !dues.isEmpty() && dues.peek().nanos <= now; ) {
        SocketChannel channel = dues.remove().channel;
        buffer.clear();
        if (channel.isOpen()) {
          channel.write(buffer);
        }
      }
    }
  }
}
