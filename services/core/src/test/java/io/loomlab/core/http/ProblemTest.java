package io.loomlab.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProblemTest {
  @ParameterizedTest
  @CsvSource({"404, 404", "405, 405", "415, 415", "502, 502", "504, 504", "418, 400", "505, 500"})
  void statusWithoutATextOfItsOwnBecomesTheGeneralOne(int asked, int given) {
    assertThat(Problem.of(asked).status()).isEqualTo(given);
  }
}
