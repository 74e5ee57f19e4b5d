package io.loomlab.contract.tests;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A backend that answers every request in one chosen, wrong way. */
final class FaultyBackend implements AutoCloseable {
  /** What it does once a request came in. */
  enum Fault {
    RESET(null),
    SILENCE(""),
    GARBAGE("this is not HTTP\r\n\r\n"),
    SERVER_ERROR("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"),
    UNAVAILABLE("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
    NOT_FOUND("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    REDIRECT("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
    EMPTY("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n");

    private final String bytes;

    Fault(String bytes) {
      this.bytes = bytes;
    }
  }

  private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
  private final AtomicInteger requests = new AtomicInteger();
  private final int port;
  private volatile Fault fault = Fault.SILENCE;
  private ServerSocket listener;

  FaultyBackend() throws IOException {
    listener = new ServerSocket(0);
    port = listener.getLocalPort();
    serve(listener);
  }

  int port() {
    return port;
  }

  /** Refuses connections and breaks off those there are. */
  void leave() throws IOException {
    listener.close();
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
    return requests.get();
  }

  void commit(Fault next) {
    fault = next;
    requests.set(0);
  }

  @Override
  public void close() throws IOException {
    leave();
  }

  private void serve(ServerSocket open) {
    Thread.ofPlatform().daemon().start(() -> accept(open));
  }

  private void accept(ServerSocket open) {
    try {
      while (true) {
        Socket socket = open.accept();
        connections.add(socket);
        Thread.ofPlatform().daemon().start(() -> serve(socket));
      }
    } catch (IOException e) {
      // closed: nothing more to accept
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      while (readHead(socket.getInputStream())) {
        requests.incrementAndGet();
        if (fault == Fault.RESET) {
          socket.setSoLinger(true, 0);
          return;
        }
        socket.getOutputStream().write(fault.bytes.getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      // the client went away
    }
  }

  private static boolean readHead(InputStream input) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = input.read();
      if (next < 0) {
        return false;
      }
      head.append((char) next);
    }
    return true;
  }
}
