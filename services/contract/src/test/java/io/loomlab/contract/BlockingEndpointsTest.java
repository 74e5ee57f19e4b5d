package io.loomlab.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BlockingEndpointsTest {
  private static final Map<String, String> ANSWERS =
      Map.of(
          "/authentication", "token-1",
          "/authorization/token-1", "ADMIN",
          "/capabilities/ADMIN", "EVERYTHING",
          "/authenticate?token=any", "{\"userId\":\"u1\"}",
          "/authorize?id=u1", "{\"authorities\":[\"get-meetings\"]}",
          "/meetings?id=u1", "{\"meetings\":[]}",
          "/delay/0.5", "0.5");

  private final List<String> calls = new ArrayList<>();
  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final BlockingEndpoints endpoints = endpoints(this::answer);

  @Test
  void capabilitiesAreTheThirdAnswer() {
    assertAnswer(endpoints.capabilities(), 200, Answer.TEXT, "EVERYTHING");
    assertThat(calls)
        .containsExactly("/authentication", "/authorization/token-1", "/capabilities/ADMIN");
  }

  @Test
  void meetingsAreTheThirdAnswer() {
    assertAnswer(endpoints.meetings("any"), 200, Answer.JSON, "{\"meetings\":[]}");
    assertThat(calls)
        .containsExactly("/authenticate?token=any", "/authorize?id=u1", "/meetings?id=u1");
  }

  @Test
  void blockIsTheAnswerOfTheBackendsDelay() {
    assertAnswer(endpoints.block("0.5"), 200, Answer.TEXT, "0.5");
  }

  @Test
  void waitsAsLongAsAskedAndTellsTheTimeAfterwards() {
    for (boolean pinned : new boolean[] {false, true}) {
      long before = System.currentTimeMillis();
      Answer answer = pinned ? endpoints.pinned("30") : endpoints.epochMillis("30");
      assertThat(Long.parseLong(new String(answer.body()))).isGreaterThanOrEqualTo(before + 30);
    }
  }

  @Test
  void refusesWithoutAskingTheBackend() {
    assertThat(endpoints.meetings(null).status()).isEqualTo(401);
    assertThat(endpoints.block("61").status()).isEqualTo(400);
    assertThat(endpoints.movies("Lucas", "60000").status()).isEqualTo(404);
    assertThat(endpoints.saveMovies("text/plain", "0", new byte[0]).status()).isEqualTo(415);
    assertThat(endpoints.saveMovies("application/json", "60000", new byte[0]).status())
        .isEqualTo(400);
    assertThat(calls).isEmpty();
  }

  @Test
  void backendFailureAndBugEndInTheirProblemsAndAreCounted() {
    BlockingEndpoints failing =
        endpoints(
            path -> {
              throw path.startsWith("/delay")
                  ? new IllegalStateException("a bug")
                  : BackendException.unusable("nothing");
            });
    assertThat(failing.capabilities().status()).isEqualTo(502);
    assertThat(failing.block("0").status()).isEqualTo(500);
    assertThat(registry.scrape())
        .contains("endpoint=\"/capabilities\",status=\"502\"")
        .contains("status=\"500\"");
  }

  private String answer(String path) {
    calls.add(path);
    return ANSWERS.get(path);
  }

  private BlockingEndpoints endpoints(BlockingBackend backend) {
    return new BlockingEndpoints(
        backend, new Movies(false), new RequestMetrics(registry, () -> 0, thread -> false));
  }

  private static void assertAnswer(Answer answer, int status, String type, String body) {
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.contentType()).isEqualTo(type);
    assertThat(answer.body()).asString().isEqualTo(body);
  }
}
