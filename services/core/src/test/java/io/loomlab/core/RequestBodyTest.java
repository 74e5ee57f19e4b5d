package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestBodyTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"application/json", "Application/JSON", "application/json; charset=utf-8"})
  void jsonIsTaken(String type) {
    assertThatCode(() -> RequestBody.requireJson(type)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", "json", "text/plain", "application/jsonp", "application/json+x"})
  void otherTypesAreRefused(String type) {
    assertThatThrownBy(() -> RequestBody.requireJson(type))
        .isInstanceOfSatisfying(RefusedException.class, e -> assertStatus(e, 415));
  }

  @Test
  void longestBodyIsRead() {
    byte[] body = new byte[RequestBody.LONGEST_BYTES];
    assertThat(RequestBody.read(new ByteArrayInputStream(body))).isEqualTo(body);
  }

  @ParameterizedTest
  @ValueSource(ints = {1 << 20, 3 << 20, 5 << 20})
  void longerBodyIsRefusedAfterFourMebibytesWereTakenIn(int more) throws IOException {
    InputStream body = new ByteArrayInputStream(new byte[RequestBody.LONGEST_BYTES + more]);
    assertThatThrownBy(() -> RequestBody.read(body))
        .isInstanceOfSatisfying(RefusedException.class, e -> assertStatus(e, 413));
    assertThat(body.available()).isLessThanOrEqualTo(Math.max(0, more - (3 << 20)));
  }

  @Test
  void unreadableBodyIsRefused() {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("bad chunk");
          }
        };
    assertThatThrownBy(() -> RequestBody.read(broken))
        .isInstanceOfSatisfying(RefusedException.class, e -> assertStatus(e, 400));
  }

  private static void assertStatus(RefusedException refusal, int status) {
    assertThat(refusal.problem().status()).isEqualTo(status);
  }
}
