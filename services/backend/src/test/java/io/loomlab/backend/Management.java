package io.loomlab.backend;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** A client of the management port. */
record Management(int port) {
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  HttpResponse<String> send(String method, String target) throws IOException, InterruptedException {
    URI uri = URI.create("http://localhost:" + port + target);
    return CLIENT.send(
        HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }

  String get(String target) throws IOException, InterruptedException {
    return send("GET", target).body();
  }

  double metric(String name) throws IOException, InterruptedException {
    String start = name + "{approach=\"backend\"} ";
    return get("/actuator/prometheus")
        .lines()
        .filter(line -> line.startsWith(start))
        .mapToDouble(line -> Double.parseDouble(line.substring(start.length())))
        .findFirst()
        .orElseThrow();
  }

  /** An answer is counted right after it was sent, so that its reader may be early. */
  void awaitRequests(int count) throws IOException, InterruptedException {
    long started = System.nanoTime();
    while (metric("backend_requests_total") != count) {
      if (System.nanoTime() - started > 30_000_000_000L) {
        throw new AssertionError("no " + count + " requests: " + get("/actuator/prometheus"));
      }
    }
  }
}
