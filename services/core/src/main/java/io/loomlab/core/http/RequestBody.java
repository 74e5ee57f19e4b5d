package io.loomlab.core.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;

/** What a request body must be before anybody reads it. */
public final class RequestBody {
  public static final int LONGEST_BYTES = 1 << 20;

  /** How much is taken in of a body that is too long, so that its sender gets to read the 413. */
  public static final int LONGEST_TAKEN_IN_BYTES = 4 * LONGEST_BYTES;

  private static final int SCRATCH_BYTES = 1 << 14;
  private static final String JSON = "application/json";

  private RequestBody() {}

  /**
   * Refuses a body by its declared type.
   *
   * @param contentType the header's value, null without one
   * @throws RefusedException 415 unless it is JSON
   */
  public static void requireJson(String contentType) {
    String declared = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT).strip();
    boolean json =
        declared.startsWith(JSON)
            && (declared.length() == JSON.length()
                || "; ".indexOf(declared.charAt(JSON.length())) >= 0);
    if (!json) {
      throw RefusedException.of(415);
    }
  }

  /**
   * Refuses a body by its length.
   *
   * @throws RefusedException 413 beyond {@link #LONGEST_BYTES}
   */
  public static void requireLength(long bytes) {
    if (bytes > LONGEST_BYTES) {
      throw RefusedException.of(413);
    }
  }

  /**
   * Reads a body. Of one that is too long no more is kept than is allowed, and what is taken in
   * beyond that is thrown away.
   *
   * @throws RefusedException 413 beyond {@link #LONGEST_BYTES}, 400 if the body cannot be read
   */
  public static byte[] read(InputStream body) {
    try {
      byte[] bytes = body.readNBytes(LONGEST_BYTES + 1);
      if (bytes.length > LONGEST_BYTES) {
        takeIn(body, LONGEST_TAKEN_IN_BYTES - bytes.length);
      }
      requireLength(bytes.length);
      return bytes;
    } catch (IOException e) {
      throw RefusedException.of(400);
    }
  }

  private static void takeIn(InputStream body, int most) throws IOException {
    byte[] scratch = new byte[SCRATCH_BYTES];
    int left = most;
    int read = 0;
    while (left > 0 && read >= 0) {
      read = body.read(scratch);
      left -= read;
    }
  }
}
