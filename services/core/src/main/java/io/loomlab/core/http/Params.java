package io.loomlab.core.http;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Pattern;

/** Reads request parameters; what is missing or unusable is refused with a 400 that says why. */
public final class Params {
  public static final String DELAY = "delayInMillis";

  /** As loom-vs-webflux calls it, on {@link Endpoint#EPOCH_MILLIS_OF_PATH}. */
  public static final String DELAY_MILLIS = "delayMillis";

  public static final String DIRECTOR = "directorLastName";

  public static final String CPU_MICROS = "cpuMicros";
  public static final String CALLS = "calls";
  public static final String PARALLEL = "parallel";

  public static final String CUSTOMER = "customer";
  public static final String MILLIS = "millis";

  private static final int LONGEST_DELAY_MILLIS = 60_000;
  private static final int MOST_CPU_MICROS = 1_000_000;
  private static final int MOST_CALLS = 20;
  private static final int LONGEST_NUMBER = 9;
  private static final int LARGEST_NUMBER = 999_999_999;
  private static final BigDecimal LONGEST_SECONDS = BigDecimal.valueOf(60);
  private static final int LONGEST_QUOTE = 40;
  private static final Pattern SECONDS = Pattern.compile("\\d{1,2}(\\.\\d{1,3})?");

  private Params() {}

  /** The wait that {@code delayInMillis} asks for. */
  public static Duration delay(String value) {
    return milliseconds(DELAY, value);
  }

  /** The wait that {@code delayMillis} asks for, or without it {@code delayInMillis}. */
  public static Duration delay(String delayMillis, String delayInMillis) {
    return isMissing(delayMillis) && !isMissing(delayInMillis)
        ? delay(delayInMillis)
        : milliseconds(DELAY_MILLIS, delayMillis);
  }

  /** The microseconds of CPU work that {@code cpuMicros} asks for: none without it. */
  public static int cpuMicros(String value) {
    return isMissing(value) ? 0 : whole(CPU_MICROS, value, 0, MOST_CPU_MICROS);
  }

  /** How often the last backend call is made: once without {@code calls}. */
  public static int calls(String value) {
    return isMissing(value) ? 1 : whole(CALLS, value, 1, MOST_CALLS);
  }

  /** Whether those calls are made at once: not without {@code parallel}. */
  public static boolean parallel(String value) {
    return switch (isMissing(value) ? "false" : value) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw RefusedException.of(
              400, "%s is \"%s\"; give true or false.".formatted(PARALLEL, quoted(value)));
    };
  }

  /** A director's last name, which need not be known. */
  public static String director(String value) {
    return required(DIRECTOR, value);
  }

  /** The number of an order. */
  public static int order(String value) {
    return whole("id", value, 1, LARGEST_NUMBER);
  }

  /** The number of a customer. */
  public static int customer(String value) {
    return whole(CUSTOMER, required(CUSTOMER, value), 1, LARGEST_NUMBER);
  }

  /** How long the database is to wait. */
  public static Duration millis(String value) {
    return milliseconds(MILLIS, value);
  }

  /** The seconds of {@code /httpbin/block/{seconds}}, as the backend takes them. */
  public static String seconds(String value) {
    if (!SECONDS.matcher(value).matches() || new BigDecimal(value).compareTo(LONGEST_SECONDS) > 0) {
      throw RefusedException.of(
          400, "seconds is \"%s\"; give a number from 0 to 60.".formatted(quoted(value)));
    }
    return value;
  }

  /**
   * The Authorization header's value.
   *
   * @throws RefusedException 401 without one
   */
  public static String authorization(String value) {
    if (value == null || value.isBlank()) {
      throw RefusedException.of(401);
    }
    return value;
  }

  private static Duration milliseconds(String name, String value) {
    return Duration.ofMillis(whole(name, required(name, value), 0, LONGEST_DELAY_MILLIS));
  }

  private static String required(String name, String value) {
    if (isMissing(value)) {
      throw RefusedException.of(400, name + " is missing; add it to the query.");
    }
    return value;
  }

  private static boolean isMissing(String value) {
    return value == null || value.isEmpty();
  }

  private static int whole(String name, String value, int least, int most) {
    int number = value.length() <= LONGEST_NUMBER ? digits(value) : -1;
    if (number < least || number > most) {
      throw RefusedException.of(
          400,
          "%s is \"%s\"; give a whole number from %d to %d."
              .formatted(name, quoted(value), least, most));
    }
    return number;
  }

  private static int digits(String value) {
    int number = 0;
    for (int i = 0; i < value.length(); i++) {
      char digit = value.charAt(i);
      if (digit < '0' || digit > '9') {
        return -1;
      }
      number = 10 * number + digit - '0';
    }
    return number;
  }

  private static String quoted(String value) {
    return value.length() <= LONGEST_QUOTE ? value : value.substring(0, LONGEST_QUOTE) + "…";
  }
}
