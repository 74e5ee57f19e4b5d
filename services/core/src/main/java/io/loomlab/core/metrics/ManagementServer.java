package io.loomlab.core.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.loomlab.core.http.Answer;
import io.loomlab.core.memory.Memory;
import io.loomlab.core.memory.Peaks;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

/**
 * Health and metrics of every approach and of the backend, on the paths of Spring's actuator, and
 * what else is asked of a process beside its traffic.
 */
public final class ManagementServer implements AutoCloseable {
  /** Answers what is asked of one path, on the server's thread. */
  @FunctionalInterface
  public interface Handler {
    /**
     * @param query as it was sent, null without
     */
    Answer answer(String method, String query);
  }

  private static final byte[] UP = "{\"status\":\"UP\"}".getBytes(StandardCharsets.UTF_8);
  private static final byte[] DOWN = "{\"status\":\"DOWN\"}".getBytes(StandardCharsets.UTF_8);

  private final HttpServer server;

  private ManagementServer(HttpServer server) {
    this.server = server;
  }

  /**
   * Starts serving on one thread of its own.
   *
   * @param port TCP port, 0 for any free one
   * @throws IOException if the port cannot be bound
   */
  public static ManagementServer start(
      int port, PrometheusMeterRegistry registry, BooleanSupplier ready) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext(
        "/actuator/health/liveness", exchange -> answer(exchange, 200, "application/json", UP));
    server.createContext(
        "/actuator/health/readiness",
        exchange -> {
          boolean up = ready.getAsBoolean();
          answer(exchange, up ? 200 : 503, "application/json", up ? UP : DOWN);
        });
    server.createContext(
        "/actuator/prometheus",
        exchange ->
            answer(
                exchange,
                200,
                "text/plain;version=0.0.4;charset=utf-8",
                registry.scrape().getBytes(StandardCharsets.UTF_8)));
    ManagementServer management = new ManagementServer(server);
    management.serve(Peaks.PATH, new Peaks());
    management.serve(Memory.PATH, new Memory(() -> RequestMetrics.inFlight(registry)));
    server.start();
    return management;
  }

  /** Serves a path besides health and metrics; one that merely starts with it is not found. */
  public void serve(String path, Handler handler) {
    server.createContext(
        path,
        exchange -> {
          boolean found = exchange.getRequestURI().getPath().equals(path);
          String query = exchange.getRequestURI().getRawQuery();
          Answer answer =
              found ? handler.answer(exchange.getRequestMethod(), query) : Answer.problem(404);
          if (answer.allow() != null) {
            exchange.getResponseHeaders().set("Allow", answer.allow());
          }
          answer(exchange, answer.status(), answer.contentType(), answer.body());
        });
  }

  /**
   * 405, for a handler.
   *
   * @param allow methods that its path takes, as the Allow header names them
   */
  public static Answer wrongMethod(String allow) {
    byte[] sentence = "This path takes %s.".formatted(allow).getBytes(StandardCharsets.UTF_8);
    return new Answer(405, Answer.TEXT, sentence, allow);
  }

  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private static void answer(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
