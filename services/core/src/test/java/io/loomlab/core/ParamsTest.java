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
  @ValueSource(strings = {"60001", "-1", "+5", "1.5", " 5", "soon", "99999999999999999999", "٣"})
  void otherDelaysAreRefusedWithTheirValueAndTheCure(String value) {
    assertRefused(400, "\"" + value + "\"; give a whole number", () -> Params.delay(value));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = "")
  void missingParametersAreRefusedByName(String value) {
    assertRefused(400, "delayInMillis is missing", () -> Params.delay(value));
    assertRefused(400, "directorLastName is missing", () -> Params.director(value));
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
