package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RouterTest {
  private record Get(String path) implements Router.Call {
    @Override
    public String method() {
      return "GET";
    }

    @Override
    public String query(String name) {
      return null;
    }

    @Override
    public String header(String name) {
      return null;
    }

    @Override
    public byte[] body() {
      return new byte[0];
    }
  }

  @Test
  void whatIsRefusedIsItsProblem() {
    assertThat(status(() -> null, "/nothing")).isEqualTo(404);
  }

  @Test
  void aBugIsAProblem() {
    assertThat(status(() -> null, "/about")).isEqualTo(500);
    assertThat(
            status(
                () -> {
                  throw new StackOverflowError();
                },
                "/about"))
        .isEqualTo(500);
  }

  private static int status(Supplier<About> about, String path) {
    return new Router<>((endpoint, request) -> null, about, Function.<Answer>identity())
        .answer(new Get(path))
        .status();
  }
}
