package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class BackendPathsTest {
  @Test
  void eachCallCarriesTheAnswerOfTheOneBefore() {
    assertThat(BackendPaths.authorization("to-ken_1")).isEqualTo("/authorization/to-ken_1");
    assertThat(BackendPaths.capabilities("ADMIN")).isEqualTo("/capabilities/ADMIN");
    assertThat(BackendPaths.userId("{\"userId\":\"abc123\",\"more\":1}")).isEqualTo("abc123");
    assertThat(BackendPaths.authorize("abc123")).isEqualTo("/authorize?id=abc123");
    assertThat(BackendPaths.meetings("abc123", "{\"authorities\":[\"x\",\"get-meetings\"]}"))
        .isEqualTo("/meetings?id=abc123");
  }

  @Test
  void authorizationIsEncoded() {
    assertThat(BackendPaths.authenticate("Bearer a&b=é"))
        .isEqualTo("/authenticate?token=Bearer+a%26b%3D%C3%A9");
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "no token", "../admin", "a?b", "a\r\nb", "é"})
  void answerThatCannotStandInAPathIsUnusable(String answer) {
    assertThatThrownBy(() -> BackendPaths.authorization(answer))
        .isInstanceOf(BackendException.class);
    assertThatThrownBy(() -> BackendPaths.capabilities("a".repeat(65)))
        .isInstanceOf(BackendException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc123", "null", "[]", "{}", "{\"userId\":\"a&id=b\"}"})
  void answerWithoutAUserIsUnusable(String json) {
    assertThatThrownBy(() -> BackendPaths.userId(json)).isInstanceOf(BackendException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "{}", "{\"authorities\":{\"get-meetings\":true}}"})
  void answerWithoutAuthoritiesIsUnusable(String json) {
    assertThatThrownBy(() -> BackendPaths.meetings("abc123", json))
        .isInstanceOf(BackendException.class);
  }

  @Test
  void userWithoutTheAuthorityIsRefused() {
    assertThatThrownBy(() -> BackendPaths.meetings("abc123", "{\"authorities\":[]}"))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().status()).isEqualTo(403));
  }
}
