package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.http.BackendException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackendPathsTest {
  @Test
  void lettersBeyondAsciiCannotStandInAPath() {
    assertThatThrownBy(() -> BackendPaths.authorization("é")).isInstanceOf(BackendException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "[]"})
  void jsonOfAnotherKindIsUnusable(String json) {
    assertThatThrownBy(() -> BackendPaths.userId(json)).isInstanceOf(BackendException.class);
    assertThatThrownBy(() -> BackendPaths.meetings("abc123", json))
        .isInstanceOf(BackendException.class);
  }
}
