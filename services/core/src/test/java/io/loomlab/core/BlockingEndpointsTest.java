package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  private static final int ITERATIONS_PER_MICROSECOND = 100;

  private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
  private final PrometheusMeterRegistry registry = LabRegistry.create("some-approach");
  private final BlockingEndpoints endpoints = endpoints(this::answer);

  @Test
  void capabilitiesAreTheThirdAnswer() {
    assertAnswer(capabilities(endpoints), 200, Answer.TEXT, "EVERYTHING");
    assertThat(calls)
        .containsExactly("/authentication", "/authorization/token-1", "/capabilities/ADMIN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void theLastCallIsMadeAsOftenAsAskedForAndTheAnswerIsTheSame(String parallel) {
    Answer answer =
        endpoints.answer(
            Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(null, "4", parallel));
    assertAnswer(answer, 200, Answer.TEXT, "EVERYTHING");
    assertThat(calls)
        .startsWith("/authentication", "/authorization/token-1")
        .hasSize(6)
        .endsWith(Collections.nCopies(4, "/capabilities/ADMIN").toArray(String[]::new));
  }

  @Test
  void parallelCallsAreUnderWayAtOnce() {
    CyclicBarrier all = new CyclicBarrier(4);
    BlockingEndpoints waiting =
        endpoints(
            path -> {
              if (path.startsWith("/capabilities")) {
                await(all);
              }
              return answer(path);
            });
    Answer answer =
        waiting.answer(Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(null, "4", "true"));
    assertThat(answer.status()).isEqualTo(200);
  }

  @Test
  void theServingThreadWorksAsLongAsAskedFor() {
    for (boolean backend : new boolean[] {false, true}) {
      long before = cpuNanos();
      Answer answer =
          backend
              ? endpoints.answer(
                  Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities("200000", null, null))
              : endpoints.answer(
                  Endpoint.EPOCH_MILLIS, () -> ParsedRequest.epochMillis("0", "200000"));
      assertThat(answer.status()).isEqualTo(200);
      assertThat(cpuNanos() - before).isGreaterThan(10_000_000);
    }
  }

  @Test
  void meetingsAreTheThirdAnswer() {
    assertAnswer(meetings("any"), 200, Answer.JSON, "{\"meetings\":[]}");
    assertThat(calls)
        .containsExactly("/authenticate?token=any", "/authorize?id=u1", "/meetings?id=u1");
  }

  @Test
  void blockIsTheAnswerOfTheBackendsDelay() {
    assertAnswer(block(endpoints, "0.5"), 200, Answer.TEXT, "0.5");
  }

  @Test
  void waitsAsLongAsAskedAndTellsTheTimeAfterwards() {
    for (boolean pinned : new boolean[] {false, true}) {
      long before = System.currentTimeMillis();
      Answer answer =
          pinned
              ? endpoints.answer(Endpoint.PINNED, () -> ParsedRequest.pinned("30"))
              : endpoints.answer(
                  Endpoint.EPOCH_MILLIS, () -> ParsedRequest.epochMillis("30", null));
      assertThat(Long.parseLong(new String(answer.body()))).isGreaterThanOrEqualTo(before + 30);
    }
  }

  @Test
  void refusesWithoutAskingTheBackend() {
    assertThat(meetings(null).status()).isEqualTo(401);
    assertThat(block(endpoints, "61").status()).isEqualTo(400);
    assertThat(
            endpoints
                .answer(Endpoint.MOVIES, () -> ParsedRequest.findMovies("Lucas", "60000"))
                .status())
        .isEqualTo(404);
    assertThat(saved("text/plain", "0").status()).isEqualTo(415);
    assertThat(saved("application/json", "60000").status()).isEqualTo(400);
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
    assertThat(capabilities(failing).status()).isEqualTo(502);
    assertThat(block(failing, "0").status()).isEqualTo(500);
    assertThat(registry.scrape())
        .contains("endpoint=\"/capabilities\",status=\"502\"")
        .contains("status=\"500\"");
  }

  @Test
  void anErrorIsAProblemAndLeavesNothingInFlight() {
    BlockingEndpoints failing =
        endpoints(
            path -> {
              throw new StackOverflowError();
            });
    assertThat(capabilities(failing).status()).isEqualTo(500);
    assertThat(registry.get("lab.inflight.requests").gauge().value()).isZero();
  }

  private static Answer capabilities(BlockingEndpoints asked) {
    return asked.answer(Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(null, null, null));
  }

  private Answer meetings(String authorization) {
    return endpoints.answer(Endpoint.MEETINGS, () -> ParsedRequest.meetings(authorization));
  }

  private static Answer block(BlockingEndpoints asked, String seconds) {
    return asked.answer(Endpoint.BLOCK, () -> ParsedRequest.block(seconds));
  }

  private Answer saved(String contentType, String delay) {
    return endpoints.answer(
        Endpoint.SAVE_MOVIES, () -> ParsedRequest.saveMovies(contentType, delay, new byte[0]));
  }

  private String answer(String path) {
    calls.add(path);
    return ANSWERS.get(path);
  }

  private BlockingEndpoints endpoints(BlockingBackend backend) {
    return new BlockingEndpoints(
        backend,
        new Movies(false),
        new RequestMetrics(registry, () -> 0, thread -> false),
        new CpuWork(ITERATIONS_PER_MICROSECOND),
        FanOut.of(Approach.Concurrency.PLATFORM_THREADS));
  }

  private static void await(CyclicBarrier all) {
    try {
      all.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void assertAnswer(Answer answer, int status, String type, String body) {
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.contentType()).isEqualTo(type);
    assertThat(answer.body()).asString().isEqualTo(body);
  }
}
