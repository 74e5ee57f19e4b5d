package io.loomlab.backend;

import java.util.OptionalInt;
import java.util.regex.Pattern;

/** Whole milliseconds as settings give them. */
final class Millis {
  static final int LONGEST = 60_000;
  static final long NANOS = 1_000_000;

  private static final Pattern DIGITS = Pattern.compile("\\d{1,5}");

  private Millis() {}

  /** A whole number from 0 to {@link #LONGEST}; empty if the text is none. */
  static OptionalInt parse(String text) {
    if (!DIGITS.matcher(text).matches() || Integer.parseInt(text) > LONGEST) {
      return OptionalInt.empty();
    }
    return OptionalInt.of(Integer.parseInt(text));
  }
}
