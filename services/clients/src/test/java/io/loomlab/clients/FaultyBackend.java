package io.loomlab.clients;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** A backend that answers every request in one chosen, wrong way. */
final class FaultyBackend implements AutoCloseable {
  /** What it does once a request came in; some send nothing. */
  enum Fault {
    RESET(""),
    SILENCE(""),
    GARBAGE("this is not HTTP\r\n\r\n"),
    SERVER_ERROR("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"),
    UNAVAILABLE("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
    FINE("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"),
    CHUNKED("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n"),
    NOT_FOUND("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    REDIRECT("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
    CREATED("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\noops"),
    IN_PARTS("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfi", "ne"),
    BROKEN_OFF("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\noops"),
    STALLED("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\noops"),
    HANG_UP(""),
    EMPTY("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n");

    private final String[] parts;

    Fault(String... parts) {
      this.parts = parts;
    }
  }

  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private final Queue<Socket> served = new ConcurrentLinkedQueue<>();
  private final AtomicInteger accepted = new AtomicInteger();
  private final int port;
  private volatile String lastHead;
  private volatile Fault fault = Fault.SILENCE;
  private ServerSocket listener;
  private Thread acceptor;

  FaultyBackend() throws IOException {
    listener = new ServerSocket(0);
    port = listener.getLocalPort();
    serve(listener);
  }

  int port() {
    return port;
  }

  /**
   * Refuses connections and breaks off those there are. The kernel keeps a listener for as long as
   * somebody accepts on it.
   */
  void leave() throws IOException {
    listener.close();
    try {
      acceptor.join();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    for (Socket connection : connections) {
      connection.close();
    }
  }

  void comeBack() throws IOException {
    listener = new ServerSocket(port);
    serve(listener);
  }

  /** Requests since the last {@link #commit}. */
  int requests() {
    return served.size();
  }

  void awaitRequests(int count) {
    while (requests() < count) {
      Thread.onSpinWait();
    }
  }

  /** Whether any of these came over the connection of the one before. */
  boolean anyCameOverTheLastUsedConnection() {
    List<Socket> order = List.copyOf(served);
    return IntStream.range(1, order.size()).anyMatch(i -> order.get(i) == order.get(i - 1));
  }

  int connections() {
    return accepted.get();
  }

  /** Whether its clients close every connection in time. */
  boolean isLeftWithin(Duration longest) throws InterruptedException {
    long deadline = System.nanoTime() + longest.toNanos();
    while (!connections.isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(10);
    }
    return connections.isEmpty();
  }

  String lastHead() {
    return lastHead;
  }

  void commit(Fault next) {
    fault = next;
    served.clear();
  }

  @Override
  public void close() throws IOException {
    leave();
  }

  private void serve(ServerSocket open) {
    acceptor = Thread.ofPlatform().daemon().start(() -> accept(open));
  }

  private void accept(ServerSocket open) {
    try {
      while (true) {
        Socket socket = open.accept();
        connections.add(socket);
        accepted.incrementAndGet();
        Thread.ofPlatform().daemon().start(() -> serve(socket));
      }
    } catch (IOException e) {
      // closed: nothing more to accept
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      while (readHead(socket.getInputStream())) {
        Fault committed = fault;
        served.add(socket);
        if (committed == Fault.RESET) {
          socket.setSoLinger(true, 0);
          return;
        }
        write(socket.getOutputStream(), committed);
        if (committed == Fault.HANG_UP || committed == Fault.BROKEN_OFF) {
          return;
        }
      }
    } catch (IOException e) {
      // the client went away
    } finally {
      connections.remove(socket);
    }
  }

  /** Parts come far enough apart to be read one by one. */
  private static void write(OutputStream output, Fault fault) throws IOException {
    for (String part : fault.parts) {
      if (part != fault.parts[0]) {
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
      }
      output.write(part.getBytes(StandardCharsets.US_ASCII));
      output.flush();
    }
  }

  private boolean readHead(InputStream input) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = input.read();
      if (next < 0) {
        return false;
      }
      head.append((char) next);
    }
    lastHead = head.toString();
    return true;
  }
}
