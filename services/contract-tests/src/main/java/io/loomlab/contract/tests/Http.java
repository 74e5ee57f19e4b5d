package io.loomlab.contract.tests;

import static org.assertj.core.api.Assertions.assertThat;

import io.loomlab.core.Problem;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/** What the tests ask over HTTP, and how they judge the answers. */
final class Http {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private Http() {}

  static HttpResponse<byte[]> get(int port, String path) throws IOException, InterruptedException {
    return request("GET", port, path);
  }

  static HttpResponse<byte[]> request(String method, int port, String path)
      throws IOException, InterruptedException {
    return send(to(port, path).method(method, BodyPublishers.noBody()));
  }

  static HttpResponse<byte[]> post(int port, String path, String type, BodyPublisher body)
      throws IOException, InterruptedException {
    return send(to(port, path).header("Content-Type", type).POST(body));
  }

  static HttpRequest.Builder to(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
        .version(HttpClient.Version.HTTP_1_1)
        .timeout(Duration.ofSeconds(20));
  }

  static HttpResponse<byte[]> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return CLIENT.send(request.build(), BodyHandlers.ofByteArray());
  }

  static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  /** The contract's problem, with a detail that the status does not fix. */
  static void assertProblem(HttpResponse<byte[]> response, int status) {
    assertThat(response.statusCode()).isEqualTo(status);
    Problem problem = Problem.of(status);
    assertThat(text(response))
        .startsWith(
            "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"detail\":\""
                .formatted(problem.title(), status));
    assertHeaders(response, Problem.CONTENT_TYPE);
  }

  /** No header but those of the contract; connection and Allow aside. */
  static void assertHeaders(HttpResponse<byte[]> response, String contentType) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    names.addAll(response.headers().map().keySet());
    names.removeAll(Set.of("allow", "connection"));
    assertThat(names).containsExactly("Content-Length", "Content-Type", "Date");
    assertThat(response.headers().firstValue("Content-Type")).contains(contentType);
    assertThat(response.headers().firstValueAsLong("Content-Length"))
        .hasValue(response.body().length);
  }
}
