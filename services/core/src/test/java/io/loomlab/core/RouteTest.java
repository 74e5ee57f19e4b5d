package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouteTest {
  @ParameterizedTest
  @CsvSource({
    "GET, /capabilities, CAPABILITIES",
    "GET, /meetings, MEETINGS",
    "GET, /epoch-millis, EPOCH_MILLIS",
    "GET, /movies, MOVIES",
    "POST, /movies, SAVE_MOVIES",
    "GET, /pinned, PINNED"
  })
  void methodAndPathNameAnEndpoint(String method, String path, Endpoint endpoint) {
    assertThat(Route.of(method, path)).isEqualTo(new Route(endpoint, null));
  }

  @Test
  void lastSegmentIsTheArgument() {
    assertThat(Route.of("GET", "/httpbin/block/1.5")).isEqualTo(new Route(Endpoint.BLOCK, "1.5"));
    assertThat(Route.of("GET", "/epoch-millis/loom"))
        .isEqualTo(new Route(Endpoint.EPOCH_MILLIS, "loom"));
  }

  @Test
  void aboutIsNoMeasuredEndpoint() {
    assertThat(Route.of("GET", "/about")).isEqualTo(new Route(null, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/",
        "/nothing",
        "/movies/1",
        "/httpbin/block",
        "/httpbin/block/1/2",
        "/epoch-millis/a/b"
      })
  void otherPathsAreRefusedWhateverTheMethod(String path) {
    assertThat(refusal("GET", path).problem().status()).isEqualTo(404);
    assertThat(refusal("POST", path).problem().status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource({"POST, /capabilities, GET", "HEAD, /about, GET", "DELETE, /movies, 'GET,POST'"})
  void wrongMethodsAreRefusedWithTheRightOnes(String method, String path, String allow) {
    RefusedException refusal = refusal(method, path);
    assertThat(refusal.problem().status()).isEqualTo(405);
    assertThat(refusal.allow()).isEqualTo(allow);
  }

  private static RefusedException refusal(String method, String path) {
    return catchThrowableOfType(RefusedException.class, () -> Route.of(method, path));
  }
}
