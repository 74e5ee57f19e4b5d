package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Execution(ExecutionMode.CONCURRENT)
class BehaviourTest {
  private static final int SEED = 5;
  private static final String AT_START = withDelay("100");

  private Backend backend;
  private Management management;

  @BeforeEach
  void start() throws IOException {
    backend = start(new Delay.Constant(100), ErrorShare.NONE, SEED, 1);
    management = new Management(backend.managementPort());
  }

  private static Backend start(Delay delay, ErrorShare errorShare, int seed, int loops)
      throws IOException {
    return Backend.start(new BackendSettings(delay, errorShare, seed, loops, 5_000, 2_000, 0, 0));
  }

  @AfterEach
  void stop() throws IOException {
    backend.close();
  }

  @Test
  void isToldAndChanged() throws Exception {
    assertThat(management.get("/behaviour")).isEqualTo(AT_START);
    HttpResponse<String> changed =
        management.send("PUT", "/behaviour?delay=lognormal%3A300:900&error_share=0.01");
    assertThat(changed.statusCode()).isEqualTo(200);
    assertThat(changed.body())
        .isEqualTo("{\"delay\":\"lognormal:300:900\",\"error_share\":0.01,\"hang_until_ms\":0}");
    put("delay=20");
    assertThat(management.get("/behaviour"))
        .isEqualTo("{\"delay\":\"20\",\"error_share\":0.01,\"hang_until_ms\":0}");
  }

  @Test
  void newDelayIsForRequestsThatArriveLater() throws Exception {
    put("delay=60000");
    try (RawHttp before = connect();
        RawHttp after = connect()) {
      before.get("/capabilities/ADMIN");
      awaitInflight(1);
      put("delay=uniform:1:2");
      after.get("/capabilities/ADMIN").response();
      awaitInflight(1);
      assertThat(management.metric("backend_delay_seconds")).isEqualTo(0.0015);
    }
  }

  @Test
  void leasedDelayHoldsAndGivesWayByItself() throws Exception {
    put("delay=30000");
    assertThat(put("delay=40&delay_for_ms=60000")).isEqualTo(withDelay("40"));
    assertThat(management.get("/behaviour")).isEqualTo(withDelay("40"));
    assertThat(management.metric("backend_delay_seconds")).isEqualTo(0.04);
    try (RawHttp http = connect()) {
      long started = System.nanoTime();
      http.get("/capabilities/ADMIN").response();
      assertThat(millisSince(started)).isBetween(40L, 29_999L);
    }
    long started = System.nanoTime();
    put("delay=60&delay_for_ms=500");
    awaitBehaviour(withDelay("30000"));
    assertThat(millisSince(started)).isGreaterThanOrEqualTo(500);
    assertThat(management.metric("backend_delay_seconds")).isEqualTo(30);
  }

  @Test
  void plainDelayEndsALease() throws Exception {
    put("delay=40&delay_for_ms=60000");
    assertThat(put("delay=20")).isEqualTo(withDelay("20"));
    assertThat(management.metric("backend_delay_seconds")).isEqualTo(0.02);
  }

  @Test
  void leaseCanBeEndedAtOnce() throws Exception {
    put("delay=40&delay_for_ms=60000");
    assertThat(put("delay=50&delay_for_ms=0")).isEqualTo(AT_START);
    assertThat(put("delay=50&delay_for_ms=0")).isEqualTo(AT_START);
  }

  @Test
  void badChangeLeavesALease() throws Exception {
    put("delay=40&delay_for_ms=60000");
    assertThat(management.send("PUT", "/behaviour?delay_for_ms=0").statusCode()).isEqualTo(400);
    assertThat(management.get("/behaviour")).isEqualTo(withDelay("40"));
  }

  @Test
  void errorShareOfTheSuccessesFails() throws Exception {
    int requests = 600;
    put("delay=0&error_share=0.25");
    List<Integer> statuses = statuses("/capabilities/ADMIN", requests);
    SplittableRandom random = new SplittableRandom(SEED);
    assertThat(statuses)
        .isEqualTo(random.doubles(requests).mapToObj(x -> x < 0.25 ? 500 : 200).toList());
    double failures = statuses.stream().filter(status -> status == 500).count();
    assertThat(failures / requests).isCloseTo(0.25, within(0.06));
    management.awaitRequests(requests);
    assertThat(management.metric("backend_errors_total")).isEqualTo(failures);
  }

  @Test
  void tokensFollowFromTheSeed() throws Exception {
    put("delay=0");
    List<String> tokens = tokens();
    backend.close();
    start();
    put("delay=0");
    assertThat(tokens()).isEqualTo(tokens).doesNotHaveDuplicates();
  }

  @Test
  void connectionsAreDealtOutInTurnToLoopsWithASeedOfTheirOwn() throws IOException {
    Delay none = new Delay.Constant(0);
    ErrorShare half = new ErrorShare(0.5);
    try (Backend two = start(none, half, SEED, 2);
        Backend one = start(none, half, SEED + 1, 1);
        RawHttp first = new RawHttp(two.port());
        RawHttp second = new RawHttp(two.port());
        RawHttp only = new RawHttp(one.port())) {
      assertThat(tokens(second)).isEqualTo(tokens(only)).isNotEqualTo(tokens(first));
    }
  }

  private List<String> tokens() throws IOException {
    try (RawHttp http = connect()) {
      return tokens(http);
    }
  }

  private static List<String> tokens(RawHttp http) throws IOException {
    List<String> bodies = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      bodies.add(http.get("/authentication").response().body());
    }
    return bodies;
  }

  @Test
  void failureTakesAsLongAsASuccessAndKeepsTheConnection() throws Exception {
    put("error_share=1");
    try (RawHttp http = connect()) {
      long started = System.nanoTime();
      RawHttp.Response failure = http.get("/authentication").response();
      assertThat(failure.status()).isEqualTo(500);
      assertThat(failure.body()).isEqualTo("500 Internal Server Error");
      assertThat(millisSince(started)).isGreaterThanOrEqualTo(100);
      assertThat(http.get("/delay/0").response().status()).isEqualTo(500);
      assertThat(http.get("/nothing").response().status()).isEqualTo(404);
      put("error_share=0");
      assertThat(http.get("/delay/0").response().status()).isEqualTo(200);
    }
  }

  @Test
  void hangHoldsWhatWaitsAndWhatArrives() throws Exception {
    int hangMillis = 3_500;
    try (RawHttp waiting = connect();
        RawHttp arriving = connect();
        RawHttp unknown = connect();
        RawHttp malformed = connect();
        RawHttp longer = connect()) {
      waiting.get("/delay/3");
      long sent = System.nanoTime();
      longer.get("/delay/5");
      awaitInflight(2);
      put("hang_ms=60000");
      arriving.get("/delay/0");
      unknown.get("/nothing");
      malformed.send("nonsense\r\n\r\n");
      awaitInflight(5);
      assertThat(management.metric("backend_hanging")).isEqualTo(1);
      assertThat(management.get("/behaviour")).doesNotContain("\"hang_until_ms\":0");
      long hung = System.nanoTime();
      put("hang_ms=" + hangMillis);
      assertThat(waiting.response().body()).isEqualTo("3");
      assertThat(millisSince(hung)).isGreaterThanOrEqualTo(hangMillis);
      assertThat(arriving.response().body()).isEqualTo("0");
      assertThat(unknown.response().status()).isEqualTo(404);
      assertThat(malformed.response().status()).isEqualTo(400);
      assertThat(malformed.closedByPeer()).isTrue();
      assertThat(longer.response().body()).isEqualTo("5");
      assertThat(millisSince(sent)).isGreaterThanOrEqualTo(5_000);
      management.awaitRequests(5);
      assertThat(management.metric("backend_hanging")).isZero();
      assertThat(management.get("/behaviour")).isEqualTo(AT_START);
    }
  }

  @Test
  void requestOfAPeerThatResetItsConnectionIsDropped() throws Exception {
    put("hang_ms=60000");
    RawHttp http = connect().get("/delay/0");
    awaitInflight(1);
    http.reset();
    await("backend_open_connections", 0);
    put("hang_ms=0");
    awaitInflight(0);
    assertThat(management.metric("backend_requests_total")).isZero();
  }

  @Test
  void hangTellsWhenItEnds() throws Exception {
    long before = System.currentTimeMillis();
    String answer = put("hang_ms=60000");
    long after = System.currentTimeMillis();
    long until = Long.parseLong(answer.replaceAll(".*:|}", ""));
    assertThat(until).isBetween(before + 60_000, after + 60_000);
    assertThat(management.get("/behaviour")).isEqualTo(answer);
  }

  /** Each time at once: loops look by themselves every few seconds. */
  @Test
  void hangCanBeEndedAtOnce() throws Exception {
    int times = 10;
    try (RawHttp http = connect()) {
      for (int i = 0; i < times; i++) {
        put("hang_ms=60000");
        http.get("/delay/0");
        awaitInflight(1);
        assertThat(put("hang_ms=0")).isEqualTo(AT_START);
        assertThat(http.response().body()).isEqualTo("0");
      }
      management.awaitRequests(times);
      assertThat(management.metric("backend_lateness_seconds_sum")).isBetween(0.0, 30.0);
      assertThat(put("hang_ms=0")).isEqualTo(AT_START);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "?delay=20&error_share=2|error_share is \"2\"; give a decimal from 0 to 1 such as 0.01.",
        "?error_share=0.5&delay=uniform:2:1|delay is \"uniform:2:1\"; give a lowest delay that is"
            + " not above the highest.",
        "?delay=20&hang_ms=60001|hang_ms is \"60001\"; give a whole number from 1 to 60000, or 0 to"
            + " end it.",
        "?delay=20&hang_ms=|hang_ms is \"\"; give a whole number from 1 to 60000, or 0 to end it.",
        "?delay=20&delay_for_ms=60001|delay_for_ms is \"60001\"; give a whole number from 1 to 60000,"
            + " or 0 to end it.",
        "?delay=20&delay_for_ms=-1|delay_for_ms is \"-1\"; give a whole number from 1 to 60000, or 0"
            + " to end it.",
        "?error_share=0.5&delay_for_ms=300|delay_for_ms has no delay beside it; give both.",
        "?delay=20&speed=3|The query holds \"speed=3\"; give NAME=VALUE with one of delay,"
            + " error_share, hang_ms, delay_for_ms.",
        "?delay|The query holds \"delay\"; give NAME=VALUE with one of delay, error_share, hang_ms, delay_for_ms.",
        "?delay=20&delay=30|The query holds delay twice; give it once.",
        "``|The query is empty; give one of delay, error_share, hang_ms, delay_for_ms."
      })
  void badChangeChangesNothing(String query, String sentence) throws Exception {
    HttpResponse<String> refusal = management.send("PUT", "/behaviour" + query);
    assertThat(refusal.statusCode()).isEqualTo(400);
    assertThat(refusal.body()).isEqualTo(sentence);
    assertThat(management.get("/behaviour")).isEqualTo(AT_START);
  }

  @Test
  void otherMethodsAndPathsAreRefused() throws Exception {
    HttpResponse<String> post = management.send("POST", "/behaviour?delay=20");
    assertThat(post.statusCode()).isEqualTo(405);
    assertThat(post.headers().firstValue("Allow")).hasValue("GET, PUT");
    assertThat(management.send("PUT", "/behaviours?delay=20").statusCode()).isEqualTo(404);
    assertThat(management.get("/behaviour")).isEqualTo(AT_START);
  }

  private String put(String query) throws IOException, InterruptedException {
    HttpResponse<String> answer = management.send("PUT", "/behaviour?" + query);
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.body();
  }

  private static String withDelay(String delay) {
    return "{\"delay\":\"%s\",\"error_share\":0,\"hang_until_ms\":0}".formatted(delay);
  }

  private List<Integer> statuses(String target, int requests) throws IOException {
    List<Integer> statuses = new ArrayList<>();
    try (RawHttp http = connect()) {
      for (int i = 0; i < requests; i++) {
        statuses.add(http.get(target).response().status());
      }
    }
    return statuses;
  }

  private void awaitInflight(int count) throws IOException, InterruptedException {
    await("backend_inflight_requests", count);
  }

  private void await(String metric, int count) throws IOException, InterruptedException {
    long started = System.nanoTime();
    while (management.metric(metric) != count) {
      assertThat(millisSince(started)).isLessThan(30_000);
    }
  }

  private void awaitBehaviour(String behaviour) throws IOException, InterruptedException {
    long started = System.nanoTime();
    while (!management.get("/behaviour").equals(behaviour)) {
      assertThat(millisSince(started)).isLessThan(30_000);
    }
  }

  private RawHttp connect() throws IOException {
    return new RawHttp(backend.port());
  }

  private static long millisSince(long started) {
    return (System.nanoTime() - started) / 1_000_000;
  }
}
