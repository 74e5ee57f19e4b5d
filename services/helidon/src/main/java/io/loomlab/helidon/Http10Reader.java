package io.loomlab.helidon;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.webserver.ServerConnectionException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A connection's bytes, in which a request line of HTTP/1.0 says HTTP/1.1: Helidon refuses the
 * older version. What differs between the two is left to whoever answers.
 */
final class Http10Reader extends DataReader {
  private static final byte[] VERSION_1 = " HTTP/1.".getBytes(StandardCharsets.US_ASCII);

  /** A connection is read, and its requests are served, by one thread. */
  private static final ThreadLocal<Http10Reader> OF_THREAD = new ThreadLocal<>();

  private boolean http10;

  @SuppressWarnings("removal") // the factory that replaces the constructor makes no subclass
  Http10Reader(HelidonSocket socket) {
    super(() -> read(socket));
    OF_THREAD.set(this);
  }

  /** Whether the request that the current thread serves came over HTTP/1.0. */
  static boolean servesHttp10() {
    return OF_THREAD.get().http10;
  }

  /** As the connection's own reader does, which must not have read anything. */
  private static byte[] read(HelidonSocket socket) {
    try {
      return socket.get();
    } catch (UncheckedIOException e) {
      throw new ServerConnectionException("The connection failed.", e);
    }
  }

  /** Helidon reads by it request lines and the values of Connection headers, nothing else. */
  @Override
  public byte[] readBytes(int length) {
    byte[] bytes = super.readBytes(length);
    int last = length - 1;
    int version = last - VERSION_1.length;
    if (version >= 0 && Arrays.equals(bytes, version, last, VERSION_1, 0, VERSION_1.length)) {
      http10 = bytes[last] == '0';
      bytes[last] = http10 ? (byte) '1' : bytes[last];
    }
    return bytes;
  }
}
