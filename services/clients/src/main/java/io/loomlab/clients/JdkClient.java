package io.loomlab.clients;

import io.loomlab.core.About;
import io.loomlab.core.BackendException;
import io.loomlab.core.Settings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The JDK's client, with its default executor for every approach. Its pool has no limit, so permits
 * bound the requests under way, which is the same over HTTP/1.1. It cannot be kept from sending a
 * User-Agent.
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

  JdkClient(Settings settings) {
    this.settings = settings;
    permits = new Semaphore(settings.backendConnections());
    System.setProperty(KEEP_ALIVE_SECONDS, String.valueOf(settings.keepAlive().toSeconds()));
    System.setProperty(ATTEMPTS, "1");
    http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(settings.connectTimeout())
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
  }

  @Override
  public String get(String path) {
    try {
      if (!permits.tryAcquire(settings.poolTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
        throw BackendException.timeout(new TimeoutException("no free connection"));
      }
      try {
        return okBody(http.send(request(path), info -> new TimedBody(settings.responseTimeout())));
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
        null,
        http.connectTimeout().orElseThrow().toMillis(),
        request("/").timeout().orElseThrow().toMillis(),
        settings.poolTimeout().toMillis(),
        1000L * Integer.getInteger(KEEP_ALIVE_SECONDS),
        null,
        "longest idle first, one lock",
        SELECTOR,
        Map.of("executor", "a pool of platform threads without a limit"));
  }

  @Override
  public void close() {
    http.shutdownNow();
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(URI.create(settings.backendUrl() + path))
        .timeout(settings.responseTimeout())
        .header("Accept", "*/*")
        .build();
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
