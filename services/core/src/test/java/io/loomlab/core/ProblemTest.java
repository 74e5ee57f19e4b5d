package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProblemTest {
  @Test
  void bodyHasTheMembersOfRfc9457InFixedOrder() {
    assertThat(Problem.of(504).bytes())
        .asString()
        .isEqualTo(
            "{\"type\":\"about:blank\",\"title\":\"Gateway Timeout\",\"status\":504,"
                + "\"detail\":\"The backend gave no answer in time.\"}");
  }

  @ParameterizedTest
  @CsvSource({"404, 404", "405, 405", "415, 415", "502, 502", "504, 504", "418, 400", "503, 500"})
  void statusWithoutATextOfItsOwnBecomesTheGeneralOne(int asked, int given) {
    assertThat(Problem.of(asked).status()).isEqualTo(given);
  }
}
