package io.loomlab.backend;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A client that sends exactly the bytes it is told to. */
final class RawHttp implements AutoCloseable {
  private static final Pattern LENGTH = Pattern.compile("Content-Length: (\\d+)");

  record Response(String head, String body) {
    int status() {
      return Integer.parseInt(head.split(" ")[1]);
    }
  }

  private final Socket socket;

  RawHttp(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    socket.setTcpNoDelay(true);
  }

  RawHttp send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  RawHttp get(String target) throws IOException {
    return send("GET " + target + " HTTP/1.1\r\nHost: backend\r\n\r\n");
  }

  RawHttp endInput() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  Response response() throws IOException {
    StringBuilder head = new StringBuilder();
    InputStream input = socket.getInputStream();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = input.read();
      if (next < 0) {
        throw new IOException("closed after: " + head);
      }
      head.append((char) next);
    }
    Matcher length = LENGTH.matcher(head);
    byte[] body = input.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
    return new Response(head.toString(), new String(body, StandardCharsets.ISO_8859_1));
  }

  boolean closedByPeer() throws IOException {
    return socket.getInputStream().read() < 0;
  }

  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
