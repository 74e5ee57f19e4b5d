package io.loomlab.microhttp;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Router;
import io.loomlab.core.settings.About;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.microhttp.Handler;
import org.microhttp.Request;
import org.microhttp.Response;

class HandlersTest {
  private static final Request ABOUT = new Request("GET", "/about", "HTTP/1.1", List.of(), null);
  private static final Request EPOCH_MILLIS =
      new Request("GET", "/epoch-millis", "HTTP/1.1", List.of(), null);
  private static final Answer UNSENDABLE = null;

  @Test
  void aBugInARouterIsAProblem() {
    Supplier<About> broken =
        () -> {
          throw new StackOverflowError();
        };

    assertThat(sent(blocking((endpoint, asked) -> null, broken), ABOUT).status()).isEqualTo(500);
    assertThat(sent(async((endpoint, asked) -> null, broken), ABOUT).status()).isEqualTo(500);
  }

  @Test
  void anExecutorThatTakesNoTaskIsAProblem() {
    Router<Answer> router =
        new Router<>((endpoint, asked) -> UNSENDABLE, null, Function.identity());
    Executor full =
        task -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    Executor closed =
        task -> {
          throw new RejectedExecutionException();
        };

    assertThat(sent(Handlers.blocking(router, full), EPOCH_MILLIS).status()).isEqualTo(500);
    assertThat(sent(Handlers.blocking(router, closed), EPOCH_MILLIS).status()).isEqualTo(500);
  }

  @Test
  void anAnswerThatCannotBeSentIsAProblem() {
    Response blocking = sent(blocking((endpoint, asked) -> UNSENDABLE, null), EPOCH_MILLIS);
    Response async =
        sent(
            async((endpoint, asked) -> CompletableFuture.completedFuture(UNSENDABLE), null),
            EPOCH_MILLIS);

    assertThat(blocking.status()).isEqualTo(500);
    assertThat(async.status()).isEqualTo(500);
  }

  @Test
  void aFutureThatFailsIsAProblem() {
    Handler handler =
        async((endpoint, asked) -> CompletableFuture.failedFuture(new AssertionError()), null);

    assertThat(sent(handler, EPOCH_MILLIS).status()).isEqualTo(500);
  }

  @ParameterizedTest
  @CsvSource({
    "callsMore=9&calls=2, 2",
    "more=calls=9&calls=3&calls=9, 3",
    "calls, ''",
    "calls=%zz,",
    "callsMore=9,"
  })
  void aParameterIsFoundByItsWholeName(String query, String value) {
    Request request = new Request("GET", "/any?" + query, "HTTP/1.1", List.of(), null);
    assertThat(MicrohttpCall.of(request).query("calls")).isEqualTo(value);
  }

  private static Handler blocking(Endpoints<Answer> endpoints, Supplier<About> about) {
    return Handlers.blocking(new Router<>(endpoints, about, Function.identity()), Runnable::run);
  }

  private static Handler async(
      Endpoints<CompletableFuture<Answer>> endpoints, Supplier<About> about) {
    return Handlers.async(new Router<>(endpoints, about, CompletableFuture::completedFuture));
  }

  private static Response sent(Handler handler, Request request) {
    AtomicReference<Response> sent = new AtomicReference<>();
    handler.handle(request, sent::set);
    return sent.get();
  }
}
