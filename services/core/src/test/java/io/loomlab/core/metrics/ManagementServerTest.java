package io.loomlab.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ManagementServerTest {
  /** Prometheus 3 reads no text without its type. */
  @ParameterizedTest
  @CsvSource({
    "/actuator/health/liveness, 200, application/json, {\"status\":\"UP\"}",
    "/actuator/health/readiness, 503, application/json, {\"status\":\"DOWN\"}",
    "/actuator/prometheus, 200, text/plain;version=0.0.4;charset=utf-8, jvm_"
  })
  void whoIsNotReadyIsAliveAndTellsItsMetrics(String path, int status, String type, String body)
      throws Exception {
    try (ManagementServer server = ManagementServer.start(0, LabRegistry.create("x"), () -> false);
        HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://localhost:" + server.port() + path);
      HttpResponse<String> answer =
          client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(status);
      assertThat(answer.headers().firstValue("Content-Type")).contains(type);
      assertThat(answer.body()).contains(body);
    }
  }
}
