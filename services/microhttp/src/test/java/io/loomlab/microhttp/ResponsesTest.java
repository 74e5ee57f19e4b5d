package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.Answer;
import io.loomlab.core.Router;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.microhttp.Request;
import org.microhttp.Response;

class ResponsesTest {
  @Test
  void aBugInARouterIsAProblem() {
    Router<Answer> broken =
        new Router<>(
            (endpoint, asked) -> null,
            () -> {
              throw new StackOverflowError();
            },
            Function.identity());
    Request about = new Request("GET", "/about", "HTTP/1.1", List.of(), null);

    Answer answer = MicrohttpApplication.answer(broken, about, Function.identity());

    assertThat(answer.status()).isEqualTo(500);
  }

  @Test
  void anAnswerThatCannotBeSentIsAProblem() {
    Answer unsendable = new Answer(299, Answer.TEXT, null, null);
    Request head = new Request("HEAD", "/", "HTTP/1.1", List.of(), null);

    Response response = Responses.of(unsendable, head);

    assertThat(response.status()).isEqualTo(500);
    assertThat(response.hasHeader("Content-Length")).isTrue();
  }
}
