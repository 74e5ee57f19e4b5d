package io.loomlab.backend;

import io.loomlab.core.settings.UsageException;
import java.math.BigDecimal;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * Share of the answers that fail. Its text is what {@link #parse} takes.
 *
 * @param value from 0 to 1
 */
public record ErrorShare(double value) {
  public static final ErrorShare NONE = new ErrorShare(0);

  private static final Pattern DECIMAL = Pattern.compile("0(\\.\\d{1,9})?|1(\\.0{1,9})?");

  /**
   * Reads a decimal from 0 to 1 with at most nine decimals.
   *
   * @param name what the text is called towards the user
   * @throws UsageException if the text is none
   */
  static ErrorShare parse(String name, String text) {
    if (!DECIMAL.matcher(text.strip()).matches()) {
      throw new UsageException(
          "%s is \"%s\"; give a decimal from 0 to 1 such as 0.01.".formatted(name, text));
    }
    return new ErrorShare(Double.parseDouble(text.strip()));
  }

  /** Whether the next answer is one of them. */
  boolean hits(RandomGenerator random) {
    return value > 0 && random.nextDouble() < value;
  }

  @Override
  public String toString() {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
