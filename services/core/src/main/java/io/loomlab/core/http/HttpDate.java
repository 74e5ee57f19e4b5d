package io.loomlab.core.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** The Date header's text, computed once a second. For servers that do not send it themselves. */
public final class HttpDate {
  private static final DateTimeFormatter FORMAT =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private record Second(long epochSeconds, String text) {}

  private static volatile Second latest = new Second(0, "");

  private HttpDate() {}

  public static String now() {
    long epochSeconds = System.currentTimeMillis() / 1000;
    Second second = latest;
    if (second.epochSeconds != epochSeconds) {
      second = new Second(epochSeconds, FORMAT.format(Instant.ofEpochSecond(epochSeconds)));
      latest = second;
    }
    return second.text;
  }
}
