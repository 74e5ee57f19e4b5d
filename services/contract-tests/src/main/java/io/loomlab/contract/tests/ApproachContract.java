package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.assertHeaders;
import static io.loomlab.contract.tests.Http.assertProblem;
import static io.loomlab.contract.tests.Http.get;
import static io.loomlab.contract.tests.Http.post;
import static io.loomlab.contract.tests.Http.request;
import static io.loomlab.contract.tests.Http.send;
import static io.loomlab.contract.tests.Http.text;
import static io.loomlab.contract.tests.Http.to;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.loomlab.core.Answer;
import io.loomlab.core.Approach;
import io.loomlab.core.Endpoint;
import io.loomlab.core.Movies;
import io.loomlab.core.Settings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an approach does in its own process; the black-box suite has the rest. */
public abstract class ApproachContract extends RunningContract {
  /**
   * What {@code /capabilities} takes at least with as many third calls as there are connections.
   */
  private static final long SUCCESSION_MILLIS =
      (2L + TestSettings.BACKEND_CONNECTIONS) * DELAY_MILLIS;

  private static final int MEBIBYTE = 1 << 20;
  private static final String JSON = "application/json";

  private final String threadKind;

  /**
   * @param threadKind as {@code /about} names it
   */
  protected ApproachContract(Approach approach, String threadKind) {
    this(approach, threadKind, Settings.Style.LEAN);
  }

  /**
   * @param threadKind as {@code /about} names it
   */
  protected ApproachContract(Approach approach, String threadKind, Settings.Style style) {
    super(approach, style);
    this.threadKind = threadKind;
  }

  @Test
  void capabilitiesAreTheTextOfThreeBackendCallsInSuccession() throws Exception {
    long started = System.nanoTime();
    HttpResponse<byte[]> response = get(running.port(), "/capabilities");
    assertThat(millisSince(started)).isGreaterThanOrEqualTo(3 * DELAY_MILLIS);
    assertAnswer(response, Answer.TEXT);
    assertThat(text(response)).isIn("EVERYTHING", "READ_ONLY");
  }

  @Test
  void theThirdCallIsMadeAsOftenAsAskedForAndTheAnswerIsTheSame() throws Exception {
    String path = "/capabilities?calls=" + TestSettings.BACKEND_CONNECTIONS;
    for (String asked : List.of(path, path + "&parallel=true")) {
      HttpResponse<byte[]> response = get(running.port(), asked);
      assertAnswer(response, Answer.TEXT);
      assertThat(text(response)).isIn("EVERYTHING", "READ_ONLY");
    }
    assertThat(millisOf(path)).isGreaterThanOrEqualTo(SUCCESSION_MILLIS);
  }

  @Test
  void parallelCallsTakeLessThanAsManyInSuccession() {
    String path = "/capabilities?parallel=true&calls=" + TestSettings.BACKEND_CONNECTIONS;
    assertThat(
            LongStream.generate(() -> millisOf(path))
                .limit(20)
                .anyMatch(millis -> millis < SUCCESSION_MILLIS))
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/capabilities?cpuMicros=400000",
        "/epoch-millis?delayInMillis=0&cpuMicros=400000"
      })
  void cpuWorkTakesCpuTime(String path) throws Exception {
    long before = processCpuNanos();
    assertThat(get(running.port(), path).statusCode()).isEqualTo(200);
    assertThat(processCpuNanos() - before).isGreaterThan(100_000_000);
  }

  @Test
  void meetingsAreTheJsonOfThreeBackendCalls() throws Exception {
    var response = send(to(running.port(), "/meetings").header("Authorization", "any"));
    assertAnswer(response, Answer.JSON);
    assertThat(text(response))
        .isEqualTo("{\"meetings\":[{\"time\":\"now\",\"subject\":\"tech-talk\"}]}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/epoch-millis?delayInMillis=30",
        "/epoch-millis/any?delayMillis=30",
        "/epoch-millis/any?delayInMillis=30",
        "/epoch-millis/any?delayMillis=&delayInMillis=30",
        "/epoch-millis/any?delayInMillis=soon&delayMillis=30",
        "/pinned?delayInMillis=30"
      })
  void theTimeIsToldAfterTheWait(String path) throws Exception {
    long before = System.currentTimeMillis();
    HttpResponse<byte[]> response = get(running.port(), path);
    assertAnswer(response, Answer.JSON);
    assertThat(Long.parseLong(text(response))).isGreaterThanOrEqualTo(before + 30);
  }

  @Test
  void moviesAreReadAndEchoed() throws Exception {
    byte[] movies = new Movies(false).by("Kubrick");
    String path = "/movies?directorLastName=Kubrick&delayInMillis=1";
    HttpResponse<byte[]> read = get(running.port(), path);
    assertAnswer(read, Answer.JSON);
    assertThat(read.body()).isEqualTo(movies);
    HttpResponse<byte[]> echoed = postMovies(JSON, BodyPublishers.ofByteArray(movies));
    assertAnswer(echoed, Answer.JSON);
    assertThat(echoed.body()).isEqualTo(movies);
  }

  @Test
  void blockIsTheTextOfTheBackendsDelay() throws Exception {
    HttpResponse<byte[]> response = get(running.port(), "/httpbin/block/0.25");
    assertAnswer(response, Answer.TEXT);
    assertThat(text(response)).isEqualTo("0.25");
  }

  @Test
  void http10ConnectionIsKeptIfAsked() throws IOException {
    assertThat(Http.http10Twice(running.port(), "/capabilities")).contains(" 200");
    assertThat(Http.http10Twice(running.port(), "/nothing")).contains(" 404");
  }

  @Test
  void connectionGoesOnAfterTwoRequestsThatCameAtOnce() throws IOException {
    String slow = "/epoch-millis?delayInMillis=50";
    assertThat(Http.afterTwoAtOnce(running.port(), slow, "/nothing")).contains(" 404");
  }

  @Test
  void moreRequestsThanBackendConnectionsQueueForThem() throws InterruptedException {
    int requests = 4 * TestSettings.BACKEND_CONNECTIONS;
    List<Thread> answers = new ArrayList<>();
    Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < requests; i++) {
      answers.add(Thread.ofVirtual().start(() -> statuses.add(status("/capabilities"))));
    }
    for (Thread answer : answers) {
      answer.join();
    }
    assertThat(statuses).hasSize(requests).containsOnly(200);
  }

  @ParameterizedTest
  @CsvSource({
    "404, /",
    "404, /nothing",
    "404, /movies/1",
    "404, /actuator/health",
    "404, /movies?delayInMillis=0&directorLastName=Lucas",
    "400, /movies?directorLastName=Kubrick",
    "400, /movies?delayInMillis=0",
    "400, /epoch-millis?delayInMillis=60001",
    "400, /pinned?delayInMillis=soon",
    "400, /capabilities?cpuMicros=1000001",
    "400, /capabilities?calls=0",
    "400, /capabilities?parallel=yes",
    "400, /epoch-millis?delayInMillis=0&cpuMicros=-1",
    "400, /epoch-millis/any?delayMillis=0&cpuMicros=soon",
    "400, /httpbin/block/61",
    "401, /meetings"
  })
  void badRequestIsAProblem(int status, String path) throws Exception {
    assertProblem(get(running.port(), path), status);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /capabilities, GET",
    "OPTIONS, /meetings, GET",
    "PUT, /about, GET",
    "DELETE, /httpbin/block/0, GET",
    "OPTIONS, /movies, 'GET,POST'",
    "DELETE, /movies, 'GET,POST'"
  })
  void wrongMethodIsAProblemThatNamesTheRightOnes(String method, String path, String allow)
      throws Exception {
    HttpResponse<byte[]> response = request(method, running.port(), path);
    assertProblem(response, 405);
    assertThat(response.headers().firstValue("Allow")).contains(allow);
  }

  @Test
  void headIsAWrongMethod() throws Exception {
    assertThat(request("HEAD", running.port(), "/capabilities").statusCode()).isEqualTo(405);
  }

  @Test
  void unusableBodyIsAProblem() throws Exception {
    assertProblem(postMovies(JSON, BodyPublishers.ofString("[]")), 400);
    assertProblem(postMovies(JSON, BodyPublishers.noBody()), 400);
    assertProblem(postMovies("text/plain", BodyPublishers.ofString("[]")), 415);
    String form = "delayInMillis=0&x=1";
    assertProblem(
        postMovies("application/x-www-form-urlencoded", BodyPublishers.ofString(form)), 415);
  }

  @ParameterizedTest
  @ValueSource(ints = {MEBIBYTE + 1, 2 * MEBIBYTE, 4 * MEBIBYTE})
  void tooLongBodyIsAProblemThatItsSenderGetsToRead(int bytes) throws Exception {
    byte[] body = new byte[bytes];
    assertProblem(postMovies(JSON, BodyPublishers.ofByteArray(body)), 413);
    var chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    assertProblem(postMovies(JSON, chunked), 413);
    assertProblem(postMovies("text/plain", BodyPublishers.ofByteArray(body)), 413);
    String wrongDelay = "/movies?delayInMillis=soon";
    assertProblem(post(running.port(), wrongDelay, JSON, BodyPublishers.ofByteArray(body)), 413);
  }

  @ParameterizedTest
  @CsvSource({
    "404, at this path, DELETE, /nothing",
    "405, does not take, DELETE, /httpbin/block/soon",
    "405, does not take, PUT, /movies",
    "415, application/json, POST, /movies",
    "400, delayInMillis, GET, /movies",
    "400, delayInMillis, GET, /movies?directorLastName=Lucas",
    "400, delayMillis, GET, /epoch-millis/any?cpuMicros=soon",
    "400, delayInMillis, GET, /epoch-millis/any?delayInMillis=soon&cpuMicros=soon"
  })
  void ofTwoFaultsTheSameIsToldEverywhere(int status, String told, String method, String path)
      throws Exception {
    HttpResponse<byte[]> response = request(method, running.port(), path);
    assertProblem(response, status);
    assertThat(text(response)).contains(told);
  }

  @Test
  void wrongDelayIsToldBeforeAnUnusableBody() throws Exception {
    var response = post(running.port(), "/movies", JSON, BodyPublishers.ofString("[]"));
    assertProblem(response, 400);
    assertThat(text(response)).contains("delayInMillis");
  }

  @Test
  void everyEndpointIsServedByTheKindOfThreadThatTheApproachNames() throws Exception {
    send(to(running.port(), "/meetings").header("Authorization", "any"));
    postMovies(JSON, BodyPublishers.ofByteArray(new Movies(false).by("Kubrick")));
    for (String path :
        List.of(
            "/capabilities",
            "/epoch-millis?delayInMillis=0",
            "/movies?directorLastName=Kubrick&delayInMillis=0",
            "/httpbin/block/0",
            "/pinned?delayInMillis=0")) {
      get(running.port(), path);
    }
    JsonNode kinds = about().at("/thread_kinds");
    for (Endpoint endpoint : Endpoint.values()) {
      assertThat(kinds.get(endpoint.label()).asString()).as("%s", endpoint).isEqualTo(threadKind);
    }
  }

  @Test
  void aboutTellsEffectiveValues() throws Exception {
    JsonNode about = about();
    assertThat(about.at("/approach").asString()).isEqualTo(approach.label());
    assertThat(about.at("/style").asString()).isEqualTo(style.name().toLowerCase(Locale.ROOT));
    assertThat(about.at("/jvm/carriers").asInt()).isPositive();
    assertThat(about.at("/jvm/vm_arguments").toString()).contains("--add-exports");
    assertThat(about.at("/cpu_iterations_per_microsecond").asInt()).isPositive();
    assertThat(about.at("/inbound/backlog").asInt()).isEqualTo(TestSettings.BACKLOG);
    assertThat(about.at("/inbound/keep_alive_ms").asLong())
        .isEqualTo(TestSettings.KEEP_ALIVE.toMillis());
    assertThat(about.at("/inbound/max_requests_per_connection").isNull()).isTrue();
    assertThat(about.at("/inbound/tcp_no_delay").asBoolean()).isTrue();
    JsonNode outbound = about.at("/outbound");
    assertThat(outbound.at("/max_connections").asInt()).isEqualTo(TestSettings.BACKEND_CONNECTIONS);
    assertThat(outbound.at("/response_timeout_ms").asLong())
        .isEqualTo(TestSettings.RESPONSE_TIMEOUT.toMillis());
  }

  @Test
  void whatIsRefusedBeforeAHandlerIsChosenIsNotRecorded() throws Exception {
    postMovies(JSON, BodyPublishers.ofString("[]"));
    request("POST", running.port(), "/capabilities");
    get(running.port(), "/nothing");
    postMovies(JSON, BodyPublishers.ofByteArray(new byte[MEBIBYTE + 1]));
    List<String> recorded =
        metricsAtRest()
            .lines()
            .filter(line -> line.startsWith("lab_requests_seconds_count"))
            .toList();
    assertThat(recorded)
        .anyMatch(line -> line.contains("endpoint=\"POST /movies\",status=\"400\""))
        .noneMatch(line -> line.contains("status=\"405\"") || line.contains("status=\"413\""))
        .noneMatch(line -> line.contains("status=\"404\"") && !line.contains("\"/movies\""));
  }

  /** What a server's module adds: values of its own, null for what the server does not have. */
  protected void assertInbound(Map<String, String> expected) throws Exception {
    JsonNode inbound = about().at("/inbound");
    expected.forEach(
        (member, value) ->
            assertThat(inbound.at("/" + member).asString("null")).as(member).endsWith(value));
  }

  /**
   * That as many threads as /about tells of serve sockets, once those have changed places that do
   * when a request arrives or a server has just ended.
   *
   * @param code classes whose code those threads run, and no others
   */
  protected void assertSocketThreadsRun(String... code) throws Exception {
    int told = about().at("/inbound/socket_threads").asInt();
    long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    long found = threadsIn(Set.of(code));
    while (found != told && System.nanoTime() < deadline) {
      found = threadsIn(Set.of(code));
    }
    assertThat(found).isEqualTo(told);
  }

  private static long threadsIn(Set<String> classes) {
    return Thread.getAllStackTraces().values().stream()
        .filter(
            frames ->
                Arrays.stream(frames).anyMatch(frame -> classes.contains(frame.getClassName())))
        .count();
  }

  /** That a request whose handler fails in an unforeseen way is answered, and has ended. */
  protected void assertIsABug(String path) throws Exception {
    assertProblem(get(running.port(), path), 500);
    metricsAtRest();
  }

  protected JsonNode about() throws IOException, InterruptedException {
    return JsonMapper.shared().readTree(get(running.port(), "/about").body());
  }

  private HttpResponse<byte[]> postMovies(String type, BodyPublisher body) throws Exception {
    return post(running.port(), "/movies?delayInMillis=0", type, body);
  }

  private static void assertAnswer(HttpResponse<byte[]> response, String contentType) {
    assertThat(response.statusCode()).isEqualTo(200);
    assertHeaders(response, contentType);
  }

  private long millisOf(String path) {
    long started = System.nanoTime();
    assertThat(status(path)).isEqualTo(200);
    return millisSince(started);
  }

  private static long processCpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static long millisSince(long started) {
    return (System.nanoTime() - started) / 1_000_000;
  }
}
