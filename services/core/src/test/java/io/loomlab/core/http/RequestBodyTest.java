package io.loomlab.core.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestBodyTest {
  @ParameterizedTest
  @ValueSource(ints = {1 << 20, 3 << 20, 5 << 20})
  void longerBodyIsRefusedAfterFourMebibytesWereTakenIn(int more) throws IOException {
    InputStream body = new ByteArrayInputStream(new byte[RequestBody.LONGEST_BYTES + more]);
    assertRefused(413, body);
    assertThat(body.available()).isLessThanOrEqualTo(Math.max(0, more - (3 << 20)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json ; charset=utf-8", " application/json"})
  void aTypeMayHaveBlanksAroundIt(String contentType) {
    assertThatCode(() -> RequestBody.requireJson(contentType)).doesNotThrowAnyException();
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
    assertRefused(400, broken);
  }

  private static void assertRefused(int status, InputStream body) {
    assertThatThrownBy(() -> RequestBody.read(body))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().status()).isEqualTo(status));
  }
}
