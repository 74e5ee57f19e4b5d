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

import io.loomlab.core.Answer;
import io.loomlab.core.Approach;
import io.loomlab.core.Endpoint;
import io.loomlab.core.Movies;
import io.loomlab.core.Settings;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The idiomatic style gives the lean one's answers; the black-box suite tries the lean one. */
public abstract class IdiomaticContract extends ApproachContract {
  private final String threadKind;

  /**
   * @param threadKind as {@code /about} names it
   */
  protected IdiomaticContract(Approach approach, String threadKind) {
    super(approach, Settings.Style.IDIOMATIC);
    this.threadKind = threadKind;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?calls=3&cpuMicros=1", "?calls=3&parallel=true"})
  void capabilitiesAreTheTextOfTheLastBackendCall(String query) throws Exception {
    HttpResponse<byte[]> response = get(running.port(), "/capabilities" + query);
    assertAnswer(response, Answer.TEXT);
    assertThat(text(response)).isIn("EVERYTHING", "READ_ONLY");
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

  private static void assertAnswer(HttpResponse<byte[]> response, String contentType) {
    assertThat(response.statusCode()).isEqualTo(200);
    assertHeaders(response, contentType);
  }
}
