package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.loomlab.core.settings.UsageException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DelayTest {
  private static final int SAMPLES = 200_000;

  @Test
  void constantIsAlwaysTheSame() {
    double[] millis = sorted("300");
    assertThat(millis[0]).isEqualTo(300);
    assertThat(millis[SAMPLES - 1]).isEqualTo(300);
  }

  @Test
  void uniformFillsItsRangeEvenly() {
    double[] millis = sorted("uniform:200:400");
    assertThat(millis[0]).isBetween(200.0, 200.1);
    assertThat(millis[SAMPLES - 1]).isBetween(399.9, 400.0);
    assertThat(quantile(millis, 0.25)).isCloseTo(250, withinPercentage(1));
    assertThat(quantile(millis, 0.5)).isCloseTo(300, withinPercentage(1));
    assertThat(quantile(millis, 0.99)).isCloseTo(398, withinPercentage(1));
  }

  @Test
  void uniformMayBeAPoint() {
    double[] millis = sorted("uniform:200:200");
    assertThat(millis[0]).isEqualTo(200);
    assertThat(millis[SAMPLES - 1]).isEqualTo(200);
  }

  @Test
  void logNormalHasItsMedianAnd99thPercentile() {
    double[] millis = sorted("lognormal:300:900");
    assertThat(quantile(millis, 0.01)).isCloseTo(100, withinPercentage(3));
    assertThat(quantile(millis, 0.5)).isCloseTo(300, withinPercentage(1));
    assertThat(quantile(millis, 0.99)).isCloseTo(900, withinPercentage(3));
    assertThat(millis[0]).isPositive();
    assertThat(millis[SAMPLES - 1]).isGreaterThan(1_500);
  }

  @Test
  void logNormalIsCapped() {
    double[] millis = sorted("lognormal:30000:60000");
    assertThat(millis[SAMPLES - 1]).isEqualTo(60_000);
    assertThat(quantile(millis, 0.98)).isLessThan(60_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "300",
        "uniform:0:400",
        "lognormal:300:900",
        "lognormal:30000:60000",
        "lognormal:1:60000"
      })
  void meanIsThatOfTheSamples(String text) {
    double mean = DoubleStream.of(sorted(text)).average().orElseThrow();
    assertThat(Delay.parse("delay", text).meanMillis()).isCloseTo(mean, withinPercentage(2));
  }

  @Test
  void meanOfALogNormalFarFromTheCapIsThatOfTheFormula() {
    double sigma = Math.log(3) / 2.3263;
    assertThat(Delay.parse("delay", "lognormal:300:900").meanMillis())
        .isCloseTo(300 * Math.exp(sigma * sigma / 2), within(0.01));
  }

  @ParameterizedTest
  @CsvSource({
    "300, 300",
    "' 0300 ', 300",
    "60000, 60000",
    "uniform:200:400, uniform:200:400",
    "lognormal:300:900, lognormal:300:900"
  })
  void textIsWhatParseTakes(String text, String canonical) {
    Delay delay = Delay.parse("delay", text);
    assertThat(delay).hasToString(canonical);
    assertThat(Delay.parse("delay", canonical)).isEqualTo(delay);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "soon",
        "-1",
        "0.5",
        "60001",
        "uniform",
        "uniform:200",
        "uniform:200:60001",
        "uniform:200:400:600",
        "uniform:200:",
        "300:400",
        "100:200:300",
        "normal:300:900",
        "Uniform:200:400",
        "lognormal:300:60001"
      })
  void anotherSyntaxIsRefused(String text) {
    assertRefused(
        text, "give whole milliseconds up to 60000 as 300, uniform:200:400 or lognormal:300:900.");
  }

  @ParameterizedTest
  @CsvSource({
    "uniform:400:200, give a lowest delay that is not above the highest.",
    "lognormal:0:900, give a median above 0 and a 99th percentile above the median.",
    "lognormal:300:300, give a median above 0 and a 99th percentile above the median.",
    "lognormal:900:300, give a median above 0 and a 99th percentile above the median."
  })
  void figuresThatContradictAreRefused(String text, String cure) {
    assertRefused(text, cure);
  }

  private static void assertRefused(String text, String cure) {
    assertThatThrownBy(() -> Delay.parse("BACKEND_DELAY", text))
        .isInstanceOf(UsageException.class)
        .hasMessage("BACKEND_DELAY is \"%s\"; %s", text, cure);
  }

  private static double[] sorted(String text) {
    Delay delay = Delay.parse("delay", text);
    SplittableRandom random = new SplittableRandom(1);
    double[] millis = new double[SAMPLES];
    Arrays.setAll(millis, i -> delay.nanos(random) / 1e6);
    Arrays.sort(millis);
    return millis;
  }

  private static double quantile(double[] sorted, double share) {
    return sorted[(int) (share * sorted.length)];
  }
}
