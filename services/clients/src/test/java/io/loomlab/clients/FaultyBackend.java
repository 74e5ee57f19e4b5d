package io.loomlab.clients;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

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

  private final ServerSocket listener = new ServerSocket(0);
  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile String lastHead;
  private volatile Fault fault = Fault.SILENCE;

  FaultyBackend() throws IOException {
    Thread.ofPlatform().daemon().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Requests since the last {@link #commit}. */
  int requests() {
    return requests.get();
  }

  void awaitRequests(int count) throws InterruptedException {
    while (requests() < count) {
      Thread.sleep(1);
    }
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
    requests.set(0);
  }

  /** Refuses connections and breaks off those there are. */
  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket connection : connections) {
      connection.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
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
        requests.incrementAndGet();
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
