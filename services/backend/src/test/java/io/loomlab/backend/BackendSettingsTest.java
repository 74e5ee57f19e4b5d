package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.settings.UsageException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BackendSettingsTest {
  private static final Map<String, String> LEAST =
      Map.of("BACKEND_DELAY", "300", "LAB_MAX_CONNECTIONS", "10", "LAB_BACKLOG", "16");

  @Test
  void nothingFailsUnlessAsked() {
    int cpus = Runtime.getRuntime().availableProcessors();
    assertThat(BackendSettings.from(LEAST))
        .isEqualTo(
            new BackendSettings(
                new Delay.Constant(300), ErrorShare.NONE, 1, cpus, 10, 16, 8080, 8081));
  }

  @Test
  void delayErrorShareAndSeedAreRead() {
    BackendSettings settings =
        BackendSettings.from(
            with(
                Map.of(
                    "BACKEND_DELAY", "lognormal:300:900",
                    "BACKEND_ERROR_SHARE", "0.01",
                    "BACKEND_SEED", "0")));
    assertThat(settings.delay()).isEqualTo(new Delay.LogNormal(300, 900));
    assertThat(settings.errorShare()).isEqualTo(new ErrorShare(0.01));
    assertThat(settings.seed()).isZero();
  }

  @Test
  void delayIsMandatory() {
    assertRefused(
        with(Map.of("BACKEND_DELAY", "")),
        "BACKEND_DELAY is not set; set it in the container's environment.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-0.1", "1.1", "1e-3", ".5", "1%", "0,5", "NaN"})
  void errorShareOutsideZeroToOneIsRefused(String share) {
    assertRefused(
        with(Map.of("BACKEND_ERROR_SHARE", share)),
        "BACKEND_ERROR_SHARE is \"%s\"; give a decimal from 0 to 1 such as 0.01.".formatted(share));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1.5", "1000000000", "random"})
  void seedIsAWholeNumber(String seed) {
    assertRefused(
        with(Map.of("BACKEND_SEED", seed)),
        "BACKEND_SEED is \"%s\"; give a whole number from 0 to 999999999.".formatted(seed));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "0.0, 0", "0.010, 0.01", "0.000000001, 0.000000001", "1, 1", "1.0, 1"})
  void textOfAnErrorShareIsWhatParseTakes(String text, String canonical) {
    ErrorShare share = ErrorShare.parse("error_share", text);
    assertThat(share).hasToString(canonical);
    assertThat(ErrorShare.parse("error_share", canonical)).isEqualTo(share);
  }

  private static Map<String, String> with(Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(LEAST);
    all.putAll(variables);
    return all;
  }

  private static void assertRefused(Map<String, String> variables, String sentence) {
    assertThatThrownBy(() -> BackendSettings.from(variables))
        .isInstanceOf(UsageException.class)
        .hasMessage(sentence);
  }
}
