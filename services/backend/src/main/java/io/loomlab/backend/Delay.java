package io.loomlab.backend;

import io.loomlab.core.settings.UsageException;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;

/**
 * Distribution of the time that an answer takes. Its text is what {@link #parse} takes; whoever
 * creates one without it keeps to the limits given there.
 */
public sealed interface Delay {

  /** One delay of the distribution, in nanoseconds. */
  long nanos(RandomGenerator random);

  /** Mean of the distribution, in milliseconds. */
  double meanMillis();

  /**
   * Reads {@code 300}, {@code uniform:200:400} (lowest and highest) or {@code lognormal:300:900}
   * (median and 99th percentile): whole milliseconds up to 60000.
   *
   * @param name what the text is called towards the user
   * @throws UsageException if the text is none of them
   */
  static Delay parse(String name, String text) {
    String[] parts = text.strip().split(":", -1);
    int[] millis =
        Arrays.stream(parts)
            .map(Millis::parse)
            .filter(OptionalInt::isPresent)
            .mapToInt(OptionalInt::getAsInt)
            .toArray();
    if (parts.length == 1 && millis.length == 1) {
      return new Constant(millis[0]);
    }
    boolean pair = parts.length == 3 && millis.length == 2;
    if (pair && parts[0].equals("uniform")) {
      return uniform(name, text, millis[0], millis[1]);
    }
    if (pair && parts[0].equals("lognormal")) {
      return logNormal(name, text, millis[0], millis[1]);
    }
    String cure = "give whole milliseconds up to %d as 300, uniform:200:400 or lognormal:300:900";
    throw refused(name, text, cure.formatted(Millis.LONGEST));
  }

  private static Delay uniform(String name, String text, int lowest, int highest) {
    if (lowest > highest) {
      throw refused(name, text, "give a lowest delay that is not above the highest");
    }
    return new Uniform(lowest, highest);
  }

  private static Delay logNormal(String name, String text, int median, int p99) {
    if (median == 0 || p99 <= median) {
      throw refused(name, text, "give a median above 0 and a 99th percentile above the median");
    }
    return new LogNormal(median, p99);
  }

  private static UsageException refused(String name, String text, String cure) {
    return new UsageException("%s is \"%s\"; %s.".formatted(name, text, cure));
  }

  /** Always the same. */
  record Constant(int millis) implements Delay {
    @Override
    public long nanos(RandomGenerator random) {
      return millis * Millis.NANOS;
    }

    @Override
    public double meanMillis() {
      return millis;
    }

    @Override
    public String toString() {
      return String.valueOf(millis);
    }
  }

  /** Every delay from the lowest to the highest is as likely. */
  record Uniform(int lowestMillis, int highestMillis) implements Delay {
    @Override
    public long nanos(RandomGenerator random) {
      return random.nextLong(lowestMillis * Millis.NANOS, highestMillis * Millis.NANOS + 1);
    }

    @Override
    public double meanMillis() {
      return (lowestMillis + highestMillis) / 2.0;
    }

    @Override
    public String toString() {
      return "uniform:%d:%d".formatted(lowestMillis, highestMillis);
    }
  }

  /**
   * Most delays are near the median, a few far above it. Its logarithm is normal with mean
   * ln(median) and standard deviation sigma = ln(p99 / median) / {@link #Z_99}; what would be above
   * 60000 ms is 60000 ms.
   */
  record LogNormal(int medianMillis, int p99Millis) implements Delay {
    /**
     * The 0.99 quantile of the standard normal distribution: Abramowitz and Stegun, Handbook of
     * Mathematical Functions, chapter 26, table of x for Q(x) = 0.01.
     */
    static final double Z_99 = 2.3263;

    private static final double FARTHEST_Z = 10;
    private static final double STEP_Z = 0.001;

    @Override
    public long nanos(RandomGenerator random) {
      return Math.round(millisAt(random.nextGaussian()) * Millis.NANOS);
    }

    /** Integrated with the midpoint rule: the closed form, median exp(sigma²/2), knows no cap. */
    @Override
    public double meanMillis() {
      double sum = 0;
      for (double z = -FARTHEST_Z + STEP_Z / 2; z < FARTHEST_Z; z += STEP_Z) {
        sum += millisAt(z) * Math.exp(-z * z / 2);
      }
      return sum * STEP_Z / Math.sqrt(2 * Math.PI);
    }

    /** The delay that many standard deviations from the median: median exp(sigma z), capped. */
    private double millisAt(double z) {
      double uncapped = medianMillis * Math.pow((double) p99Millis / medianMillis, z / Z_99);
      return Math.min(uncapped, Millis.LONGEST);
    }

    @Override
    public String toString() {
      return "lognormal:%d:%d".formatted(medianMillis, p99Millis);
    }
  }
}
