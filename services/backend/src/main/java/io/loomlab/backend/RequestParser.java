package io.loomlab.backend;

import java.nio.charset.StandardCharsets;

/**
 * Reads one HTTP/1.x request head out of bytes. Reused for every request of a loop: after {@link
 * #parse} gave {@link #OK}, the accessors tell about that request.
 */
final class RequestParser {
  static final int INCOMPLETE = -1;
  static final int OK = 200;

  private static final byte[] GET = ascii("GET ");
  private static final byte[] HTTP_10 = ascii("HTTP/1.0");
  private static final byte[] HTTP_11 = ascii("HTTP/1.1");
  private static final byte[] CONNECTION = ascii("connection");
  private static final byte[] CONTENT_LENGTH = ascii("content-length");
  private static final byte[] HOST = ascii("host");
  private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding");

  private byte[] bytes;
  private int end;
  private int position;
  private String target;
  private boolean get;
  private boolean http10;
  private boolean keepAlive;
  private boolean host;
  private boolean body;

  /**
   * Parses the head that starts at {@code from}.
   *
   * @return {@link #INCOMPLETE}, {@link #OK}, or the status to refuse the request with
   */
  int parse(byte[] source, int from, int to) {
    bytes = source;
    end = to;
    position = from;
    host = false;
    body = false;
    while (position < end && (bytes[position] == '\r' || bytes[position] == '\n')) {
      position++;
    }
    int start = position;
    if (!headIsComplete(start)) {
      return INCOMPLETE;
    }
    if (!requestLine() || !headers() || !(host || http10)) {
      return 400;
    }
    if (body) {
      return 413;
    }
    return get ? OK : 405;
  }

  /** Index after the head. */
  int next() {
    return position;
  }

  String target() {
    return target;
  }

  boolean http10() {
    return http10;
  }

  boolean keepAlive() {
    return keepAlive;
  }

  private boolean headIsComplete(int start) {
    for (int i = start; i < end; i++) {
      if (bytes[i] == '\n'
          && (i + 1 < end && bytes[i + 1] == '\n'
              || i + 2 < end && bytes[i + 1] == '\r' && bytes[i + 2] == '\n')) {
        return true;
      }
    }
    return false;
  }

  private boolean requestLine() {
    int start = position;
    int lineEnd = endOfLine();
    int afterMethod = indexOf((byte) ' ', start, lineEnd);
    int afterTarget = indexOf((byte) ' ', afterMethod + 1, lineEnd);
    if (afterMethod <= start || afterTarget <= afterMethod + 1 || bytes[afterMethod + 1] != '/') {
      return false;
    }
    get = startsWith(GET, start, lineEnd);
    target =
        new String(
            bytes, afterMethod + 1, afterTarget - afterMethod - 1, StandardCharsets.ISO_8859_1);
    http10 = isVersion(HTTP_10, afterTarget + 1, lineEnd);
    keepAlive = !http10;
    return http10 || isVersion(HTTP_11, afterTarget + 1, lineEnd);
  }

  private boolean headers() {
    while (true) {
      int start = position;
      int lineEnd = endOfLine();
      if (lineEnd == start) {
        return true;
      }
      int colon = indexOf((byte) ':', start, lineEnd);
      if (colon <= start || bytes[start] <= ' ' || bytes[colon - 1] <= ' ') {
        return false;
      }
      if (!header(start, colon, lineEnd)) {
        return false;
      }
    }
  }

  private boolean header(int name, int colon, int lineEnd) {
    if (isName(HOST, name, colon)) {
      host = true;
    } else if (isName(CONNECTION, name, colon)) {
      String value = value(colon, lineEnd);
      keepAlive = http10 ? hasToken(value, "keep-alive") : !hasToken(value, "close");
    } else if (isName(TRANSFER_ENCODING, name, colon)) {
      body = true;
    } else if (isName(CONTENT_LENGTH, name, colon)) {
      String value = value(colon, lineEnd);
      body |= !value.equals("0");
      return !value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9');
    }
    return true;
  }

  private String value(int colon, int lineEnd) {
    return new String(bytes, colon + 1, lineEnd - colon - 1, StandardCharsets.ISO_8859_1).strip();
  }

  private static boolean hasToken(String value, String token) {
    if (value.equalsIgnoreCase(token)) {
      return true;
    }
    for (String each : value.split(",")) {
      if (each.strip().equalsIgnoreCase(token)) {
        return true;
      }
    }
    return false;
  }

  /** End of the line at the position, without its line end; the position moves behind that. */
  private int endOfLine() {
    int lineFeed = indexOf((byte) '\n', position, end);
    int start = position;
    position = lineFeed + 1;
    return lineFeed > start && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
  }

  private int indexOf(byte wanted, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private boolean startsWith(byte[] wanted, int from, int to) {
    return to - from >= wanted.length && matches(wanted, from, 0);
  }

  private boolean isVersion(byte[] wanted, int from, int to) {
    return to - from == wanted.length && matches(wanted, from, 0);
  }

  private boolean isName(byte[] lowerCase, int from, int to) {
    return to - from == lowerCase.length && matches(lowerCase, from, 0x20);
  }

  private boolean matches(byte[] wanted, int from, int caseBit) {
    for (int i = 0; i < wanted.length; i++) {
      if ((bytes[from + i] | caseBit) != (wanted[i] | caseBit)) {
        return false;
      }
    }
    return true;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
