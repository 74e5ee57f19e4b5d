package io.loomlab.clients;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.BackendPaths;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The JDK's client. As Spring Boot builds it, it has an executor of virtual threads where handlers
 * run on such, else its own. Its pool has no limit, so permits bound the requests under way, which
 * is the same over HTTP/1.1.
 */
final class JdkClient implements BlockingClient {
  private static final String KEEP_ALIVE_SECONDS = "jdk.httpclient.keepalive.timeout";

  /** Read when the JDK's classes load: attempts for a GET whose connection was closed. */
  private static final String ATTEMPTS = "jdk.httpclient.redirects.retrylimit";

  /** {@code HttpClientImpl.SelectorManager}. */
  private static final int SELECTOR = 1;

  private final Settings settings;
  private final Semaphore permits;
  private final HttpClient http;
  private final HttpResponse.BodyHandler<byte[]> body;

  JdkClient(Settings settings) {
    this.settings = settings;
    permits = new Semaphore(settings.backendConnections());
    body =
        settings.responseTimeout().isZero()
            ? HttpResponse.BodyHandlers.ofByteArray()
            : info -> new TimedBody(settings.responseTimeout());
    System.setProperty(KEEP_ALIVE_SECONDS, String.valueOf(settings.keepAlive().toSeconds()));
    System.setProperty(ATTEMPTS, "1");
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER);
    if (!settings.connectTimeout().isZero()) {
      builder.connectTimeout(settings.connectTimeout());
    }
    if (settings.approach().concurrency() == Approach.Concurrency.VIRTUAL_THREADS) {
      ThreadFactory threads = Thread.ofVirtual().name("httpclient-", 0).factory();
      builder.executor(Executors.newThreadPerTaskExecutor(threads));
    }
    http = builder.build();
  }

  @Override
  public String get(String path) {
    try {
      if (!permits.tryAcquire(settings.poolTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
        throw BackendException.timeout(new TimeoutException("no free connection"));
      }
      try {
        return okBody(http.send(request(path), body));
      } finally {
        permits.release();
      }
    } catch (HttpTimeoutException e) {
      throw BackendException.timeout(e);
    } catch (IOException e) {
      throw BackendException.unusable(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw BackendException.unusable(e);
    }
  }

  @Override
  public About.Outbound about() {
    return new About.Outbound(
        "jdk-httpclient",
        Runtime.version().toString(),
        settings.backendConnections(),
        settings.backendConnections(),
        http.connectTimeout().map(Duration::toMillis).orElse(0L),
        request("/").timeout().map(Duration::toMillis).orElse(0L),
        settings.poolTimeout().toMillis(),
        1000L * Integer.getInteger(KEEP_ALIVE_SECONDS),
        null,
        "longest idle first, one lock",
        SELECTOR,
        Map.of(
            "executor",
            http.executor().isPresent()
                ? "a virtual thread per task"
                : "a pool of platform threads without a limit"));
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  private HttpRequest request(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(settings.backendUrl() + path))
            .headers("Accept", "*/*", "User-Agent", BackendPaths.USER_AGENT);
    return settings.responseTimeout().isZero()
        ? request.build()
        : request.timeout(settings.responseTimeout()).build();
  }

  private static String okBody(HttpResponse<byte[]> response) {
    if (response.statusCode() != 200) {
      throw BackendException.unusable("The backend answered " + response.statusCode());
    }
    if (response.body().length == 0) {
      throw BackendException.unusable("The backend answered nothing");
    }
    return new String(response.body(), StandardCharsets.UTF_8);
  }
}
