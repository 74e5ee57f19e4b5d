package io.loomlab.backend;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * An answer, ready to be sent but for its Connection header.
 *
 * @param head status line and headers, each with its line end
 * @param delayNanos how long the requester waits for it, or {@link #DELAY_AS_CONFIGURED}
 */
record BackendAnswer(int status, byte[] head, byte[] body, long delayNanos) {
  static final long DELAY_AS_CONFIGURED = -1;

  private static final byte[] PERSISTENT = ascii("\r\n");
  private static final byte[] KEEP_ALIVE = ascii("Connection: keep-alive\r\n\r\n");
  private static final byte[] CLOSE = ascii("Connection: close\r\n\r\n");

  /** What the error share makes of a success. */
  static final BackendAnswer FAILURE = error("500 Internal Server Error", "");

  static BackendAnswer text(String body) {
    return text(body, DELAY_AS_CONFIGURED);
  }

  static BackendAnswer text(String body, long delayNanos) {
    return of("200 OK", "text/plain;charset=UTF-8", body, delayNanos);
  }

  static BackendAnswer json(String body) {
    return of("200 OK", "application/json", body, DELAY_AS_CONFIGURED);
  }

  /** Answers at once. */
  static BackendAnswer error(int status) {
    return switch (status) {
      case 404 -> error("404 Not Found", "");
      case 405 -> error("405 Method Not Allowed", "Allow: GET\r\n");
      case 413 -> error("413 Content Too Large", "");
      case 431 -> error("431 Request Header Fields Too Large", "");
      default -> error("400 Bad Request", "");
    };
  }

  /** The same head with another body of the same length. */
  BackendAnswer withBody(String text) {
    return new BackendAnswer(status, head, ascii(text), delayNanos);
  }

  void writeTo(ByteBuf output, boolean keepAlive, boolean http10) {
    output.writeBytes(head);
    output.writeBytes(keepAlive ? http10 ? KEEP_ALIVE : PERSISTENT : CLOSE).writeBytes(body);
  }

  private static BackendAnswer error(String status, String header) {
    BackendAnswer plain = of(status, "text/plain;charset=UTF-8", status, 0);
    byte[] head = ascii(new String(plain.head, StandardCharsets.US_ASCII) + header);
    return new BackendAnswer(plain.status, head, plain.body, 0);
  }

  private static BackendAnswer of(String status, String type, String body, long delayNanos) {
    String head =
        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
            .formatted(status, type, body.length());
    int code = Integer.parseInt(status.substring(0, 3));
    return new BackendAnswer(code, ascii(head), ascii(body), delayNanos);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
