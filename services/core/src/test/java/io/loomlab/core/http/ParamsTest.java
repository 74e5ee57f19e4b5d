package io.loomlab.core.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What takes long to ask over HTTP, or is too odd to be asked of every approach. */
class ParamsTest {
  @Test
  void theHighestValuesAreTaken() {
    assertThat(Params.delay("60000")).isEqualTo(Duration.ofMinutes(1));
    assertThat(Params.cpuMicros("1000000")).isEqualTo(1_000_000);
    assertThat(Params.calls("20")).isEqualTo(20);
  }

  @ParameterizedTest
  @CsvSource({"1, false", "2, true"})
  void callsAreMadeAtOnceIfThereAreSeveral(String calls, boolean parallel) {
    assertThat(ParsedRequest.capabilities("", calls, "true"))
        .isEqualTo(new ParsedRequest.Capabilities(0, Integer.parseInt(calls), parallel));
  }

  @Test
  void aDelayMayBeginWithZeros() {
    assertThat(Params.delay("00007")).isEqualTo(Duration.ofMillis(7));
  }

  @Test
  void anEmptyDelayCountsAsMissing() {
    assertThat(Params.delay("", "8")).isEqualTo(Duration.ofMillis(8));
  }

  @Test
  void otherDigitsThanThoseOfAsciiAreRefused() {
    assertRefused("\"٣\"; give a whole number", () -> Params.delay("٣"));
  }

  @Test
  void refusalQuotesOnlyTheBeginningOfALongValue() {
    assertRefused("\"" + "x".repeat(40) + "…\"", () -> Params.delay("x".repeat(1_000)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"59.999", "60", "60.000"})
  void secondsAreGivenOnAsTheyAre(String value) {
    assertThat(Params.seconds(value)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {".5", "1.", "1e1"})
  void secondsInAnotherNotationAreRefused(String value) {
    assertRefused("seconds is \"" + value + "\"", () -> Params.seconds(value));
  }

  private static void assertRefused(String detail, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().detail()).contains(detail));
  }
}
