package io.loomlab.contract.tests;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/** What the tests ask over HTTP. */
final class Http {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private Http() {}

  static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return request("GET", port, path, BodyPublishers.noBody());
  }

  static HttpResponse<String> post(int port, String path, BodyPublisher body)
      throws IOException, InterruptedException {
    return request("POST", port, path, body);
  }

  private static HttpResponse<String> request(
      String method, int port, String path, BodyPublisher body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
            .version(HttpClient.Version.HTTP_1_1)
            .timeout(Duration.ofSeconds(20))
            .header("Content-Type", "application/json")
            .method(method, body);
    return CLIENT.send(request.build(), BodyHandlers.ofString());
  }
}
