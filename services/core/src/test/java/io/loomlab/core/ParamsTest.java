package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParamsTest {
  @ParameterizedTest
  @CsvSource({"0, 0", "300, 300", "60000, 60000", "00007, 7"})
  void delayIsAWholeNumberOfMilliseconds(String value, int millis) {
    assertThat(Params.delay(value)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "60001",
        "-1",
        "+5",
        "1.5",
        " 5",
        "soon",
        "4294967301",
        "99999999999999999999",
        "٣"
      })
  void otherDelaysAreRefusedWithTheirValueAndTheCure(String value) {
    assertRefused(400, "\"" + value + "\"; give a whole number", () -> Params.delay(value));
  }

  @ParameterizedTest
  @CsvSource({"7,,7", ",8,8", "7,8,7", "7,soon,7", "'',8,8"})
  void delayMillisCountsBeforeDelayInMillis(String first, String second, int millis) {
    assertThat(Params.delay(first, second)).isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void ofTwoDelaysTheOneThatCountsIsRefusedByName() {
    assertRefused(400, "delayMillis is \"soon\"", () -> Params.delay("soon", "8"));
    assertRefused(400, "delayInMillis is \"soon\"", () -> Params.delay("", "soon"));
    assertRefused(400, "delayMillis is missing", () -> Params.delay(null, ""));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "")
  void missingParametersAreRefusedByName(String value) {
    assertRefused(400, "delayInMillis is missing", () -> Params.delay(value));
    assertRefused(400, "directorLastName is missing", () -> Params.director(value));
  }

  @Test
  void whatIsOptionalHasTheDefaultOfARequestWithoutIt() {
    for (String missing : new String[] {null, ""}) {
      assertThat(Params.cpuMicros(missing)).isZero();
      assertThat(Params.calls(missing)).isOne();
      assertThat(Params.parallel(missing)).isFalse();
    }
    assertThat(Params.cpuMicros("1000000")).isEqualTo(1_000_000);
    assertThat(Params.calls("20")).isEqualTo(20);
    assertThat(Params.parallel("true")).isTrue();
    assertThat(Params.parallel("false")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1000001", "-1", "1.5", "soon", "99999999999999999999"})
  void otherCpuWorkIsRefused(String value) {
    assertRefused(
        400,
        "cpuMicros is \"" + value + "\"; give a whole number from 0 to 1000000.",
        () -> Params.cpuMicros(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "21", "-1", "two"})
  void otherNumbersOfCallsAreRefused(String value) {
    assertRefused(
        400,
        "calls is \"" + value + "\"; give a whole number from 1 to 20.",
        () -> Params.calls(value));
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRUE", "yes", "1", " true"})
  void whatIsNeitherTrueNorFalseIsRefused(String value) {
    assertRefused(
        400, "parallel is \"" + value + "\"; give true or false.", () -> Params.parallel(value));
  }

  @Test
  void refusalQuotesOnlyTheBeginningOfALongValue() {
    assertRefused(400, "\"" + "x".repeat(40) + "…\"", () -> Params.delay("x".repeat(1_000)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0.5", "59.999", "60", "60.000"})
  void secondsAreGivenOnAsTheyAre(String value) {
    assertThat(Params.seconds(value)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "61", "60.001", "0.0001", ".5", "1.", "1e1", "soon"})
  void otherSecondsAreRefused(String value) {
    assertRefused(400, "seconds is \"" + value + "\"", () -> Params.seconds(value));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", " "})
  void requestWithoutAuthorizationIsRefused(String value) {
    assertRefused(401, "Authorization", () -> Params.authorization(value));
  }

  private static void assertRefused(int status, String detail, ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> {
              assertThat(refusal.problem().status()).isEqualTo(status);
              assertThat(refusal.problem().detail()).contains(detail);
            });
  }
}
