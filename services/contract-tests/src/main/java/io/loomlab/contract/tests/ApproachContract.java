package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.assertProblem;
import static io.loomlab.contract.tests.Http.get;
import static io.loomlab.contract.tests.Http.post;
import static io.loomlab.contract.tests.Http.request;
import static io.loomlab.contract.tests.Http.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.backend.Backend;
import io.loomlab.backend.BackendSettings;
import io.loomlab.core.Approach;
import io.loomlab.core.Settings;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.ResourceLock;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What an approach does in its own process, beside a backend; the black-box suite has the rest. One
 * approach at a time, because some tests count threads of the JVM.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock("approach")
public abstract class ApproachContract {
  static final int MEBIBYTE = 1 << 20;
  static final String JSON = "application/json";
  private static final int DELAY_MILLIS = 50;

  final Approach approach;
  final Settings.Style style;
  Running running;
  private Backend backend;

  protected ApproachContract(Approach approach) {
    this(approach, Settings.Style.LEAN);
  }

  protected ApproachContract(Approach approach, Settings.Style style) {
    this.approach = approach;
    this.style = style;
  }

  /** Starts the real application. */
  protected abstract Running start(Settings settings) throws IOException;

  @BeforeAll
  void startAll() throws IOException {
    backend =
        Backend.start(new BackendSettings(Duration.ofMillis(DELAY_MILLIS), 1, 1_000, 100, 0, 0));
    running = start(TestSettings.of(approach, style, backend.port()));
  }

  @AfterAll
  void stopAll() throws IOException {
    running.stop().run();
    backend.close();
  }

  @Test
  void aboutTellsEffectiveValues() throws Exception {
    JsonNode about = about();
    assertThat(about.at("/inbound/backlog").asInt()).isEqualTo(TestSettings.BACKLOG);
    assertThat(about.at("/inbound/keep_alive_ms").asLong())
        .isEqualTo(TestSettings.KEEP_ALIVE.toMillis());
    assertThat(about.at("/outbound/max_connections").asInt())
        .isEqualTo(TestSettings.BACKEND_CONNECTIONS);
    assertThat(about.at("/outbound/response_timeout_ms").asLong())
        .isEqualTo(TestSettings.RESPONSE_TIMEOUT.toMillis());
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

  @Test
  void metricsAreThoseOfTheStyle() throws Exception {
    get(running.port(), "/capabilities");
    String metrics = metricsAtRest();
    assertThat(metrics).contains("lab_requests_seconds_count");
    if (style == Settings.Style.LEAN) {
      assertThat(metrics)
          .doesNotContain("http_server_requests", "http_client_requests", "application_started");
    } else {
      assertThat(metrics).contains("http_client_requests_seconds_count");
    }
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
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
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

  /** The metrics, once no request is in flight: its end may be recorded after its answer is out. */
  private String metricsAtRest() throws IOException, InterruptedException {
    String atRest = "lab_inflight_requests{approach=\"%s\"} 0.0".formatted(approach.label());
    while (!metrics().contains(atRest)) {
      Thread.onSpinWait();
    }
    return metrics();
  }

  private String metrics() throws IOException, InterruptedException {
    return text(get(running.managementPort(), "/actuator/prometheus"));
  }

  private int status(String path) {
    try {
      return get(running.port(), path).statusCode();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  HttpResponse<byte[]> postMovies(String type, BodyPublisher body) throws Exception {
    return post(running.port(), "/movies?delayInMillis=0", type, body);
  }
}
