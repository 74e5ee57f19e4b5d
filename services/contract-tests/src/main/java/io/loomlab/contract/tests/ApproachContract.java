package io.loomlab.contract.tests;

import static io.loomlab.contract.tests.Http.get;
import static io.loomlab.contract.tests.Http.post;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.backend.Backend;
import io.loomlab.backend.BackendSettings;
import io.loomlab.backend.Delay;
import io.loomlab.backend.ErrorShare;
import io.loomlab.core.http.Problem;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private static final int MEBIBYTE = 1 << 20;
  private static final BackendSettings BACKEND =
      new BackendSettings(new Delay.Constant(0), ErrorShare.NONE, 1, 1, 1_000, 100, 0, 0);

  private final Approach approach;
  private final Settings.Style style;
  private Running running;
  private Backend backend;

  protected ApproachContract(Approach approach) {
    this(approach, Settings.Style.LEAN);
  }

  protected ApproachContract(Approach approach, Settings.Style style) {
    this.approach = approach;
    this.style = style;
  }

  /** What the application is started with, but for the time that a connection may be idle. */
  protected Settings settings(Duration keepAlive) {
    return TestSettings.of(approach, style, backend.port(), keepAlive);
  }

  /** Starts the real application. */
  protected abstract Running start(Settings settings) throws IOException;

  @BeforeAll
  void startAll() throws IOException {
    backend = Backend.start(BACKEND);
    running = start(settings(TestSettings.KEEP_ALIVE));
  }

  @AfterAll
  void stopAll() throws Exception {
    running.application().close();
    backend.close();
  }

  @Test
  void whatIsRefusedBeforeAHandlerIsChosenIsNotRecorded() throws Exception {
    String movies = "/movies?delayInMillis=0";
    post(running.port(), movies, BodyPublishers.ofString("[]"));
    post(running.port(), "/capabilities", BodyPublishers.noBody());
    get(running.port(), "/nothing");
    post(running.port(), movies, BodyPublishers.ofByteArray(new byte[MEBIBYTE + 1]));
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

  /**
   * What a server's module adds: values of its own, null for what the server does not have; of an
   * executor the end of its name. And that the server has a version, whichever.
   */
  protected void assertInbound(Map<String, String> expected) throws Exception {
    JsonNode inbound = about().at("/inbound");
    assertThat(inbound.at("/version").asString("")).isNotEmpty();
    expected.forEach(
        (member, value) -> {
          String told = inbound.at("/" + member).asString("null");
          if (member.equals("executor")) {
            assertThat(told).endsWith(value);
          } else {
            assertThat(told).as(member).isEqualTo(value);
          }
        });
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
    HttpResponse<String> answer = get(running.port(), path);
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.headers().firstValue("Content-Type")).contains(Problem.CONTENT_TYPE);
    assertThat(answer.body()).isEqualTo(new String(Problem.of(500).bytes(), UTF_8));
    metricsAtRest();
  }

  protected JsonNode about() throws IOException, InterruptedException {
    return JsonMapper.shared().readTree(get(running.port(), "/about").body());
  }

  /**
   * The metrics, once no request is in flight: its end may be recorded after its answer is out.
   * Asked for anew, because what a scrape tells last may have happened after what it tells first.
   */
  private String metricsAtRest() throws IOException, InterruptedException {
    String atRest = "lab_inflight_requests{approach=\"%s\"} 0.0".formatted(approach.label());
    while (!metrics().contains(atRest)) {
      Thread.onSpinWait();
    }
    return metrics();
  }

  private String metrics() throws IOException, InterruptedException {
    return get(running.managementPort(), "/actuator/prometheus").body();
  }
}
