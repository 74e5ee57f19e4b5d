package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.microhttp.Request;
import org.microhttp.Response;

class ResponsesTest {
  @Test
  void anAnswerThatCannotBeSentIsAProblem() {
    Answer unsendable = new Answer(299, Answer.TEXT, null, null);
    Request head = new Request("HEAD", "/", "HTTP/1.1", List.of(), null);

    Response response = Responses.of(unsendable, head);

    assertThat(response.status()).isEqualTo(500);
    assertThat(response.hasHeader("Content-Length")).isTrue();
  }
}
