package io.loomlab.clients;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.BackendPaths;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.timeout.TimeoutException;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.PlatformDependent;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufMono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientConfig;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;

/** reactor-netty, on the event loops that it shares with a Netty server of the same process. */
public final class ReactorClient implements ReactiveBackend, BackendClient {
  private static final int UNBOUNDED = -1;

  private final ConnectionProvider pool;
  private final HttpClient http;
  private final Settings settings;

  public ReactorClient(Settings settings) {
    this.settings = settings;
    pool =
        ConnectionProvider.builder("backend")
            .maxConnections(settings.backendConnections())
            .pendingAcquireMaxCount(UNBOUNDED)
            .pendingAcquireTimeout(settings.poolTimeout())
            .maxIdleTime(settings.keepAlive())
            .lifo()
            .build();
    http =
        HttpClient.create(pool)
            .baseUrl(settings.backendUrl().toString())
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) settings.connectTimeout().toMillis())
            .option(ChannelOption.TCP_NODELAY, true)
            .responseTimeout(
                settings.responseTimeout().isZero() ? null : settings.responseTimeout())
            .disableRetry(true)
            .compress(false)
            .followRedirect(false)
            .headers(headers -> headers.set(HttpHeaderNames.USER_AGENT, BackendPaths.USER_AGENT));
  }

  /** The client itself, for a framework that calls it. */
  public HttpClient http() {
    return http;
  }

  @Override
  public Mono<String> get(String path) {
    return http.get()
        .uri(path)
        .responseSingle(ReactorClient::okBody)
        .onErrorMap(ReactorClient::failure);
  }

  @Override
  public About.Outbound about() {
    HttpClientConfig configuration = http.configuration();
    Map<ChannelOption<?>, ?> options = configuration.options();
    return new About.Outbound(
        "reactor-netty",
        HttpClient.class.getPackage().getImplementationVersion(),
        pool.maxConnections(),
        pool.maxConnections(),
        ((Integer) options.get(ChannelOption.CONNECT_TIMEOUT_MILLIS)).longValue(),
        configuration.responseTimeout() == null ? 0 : configuration.responseTimeout().toMillis(),
        settings.poolTimeout().toMillis(),
        settings.keepAlive().toMillis(),
        Boolean.TRUE.equals(options.get(ChannelOption.TCP_NODELAY)),
        "last used first, no lock",
        eventLoops(configuration),
        nettyInternals());
  }

  /** Settings of Netty that hold for every server and client in this JVM. */
  public static Map<String, Object> nettyInternals() {
    return Map.of(
        "allocator", ByteBufAllocator.DEFAULT.getClass().getSimpleName(),
        "leak_detection", ResourceLeakDetector.getLevel().name().toLowerCase(Locale.ROOT),
        "unsafe", PlatformDependent.hasUnsafe());
  }

  private static int eventLoops(HttpClientConfig configuration) {
    int loops = 0;
    for (EventExecutor ignored :
        configuration.loopResources().onClient(configuration.isPreferNative())) {
      loops++;
    }
    return loops;
  }

  @Override
  public void close() {
    pool.dispose();
  }

  private static Mono<String> okBody(HttpClientResponse response, ByteBufMono body) {
    if (!response.status().equals(HttpResponseStatus.OK)) {
      // Reactor Netty closes a connection if nobody reads the body.
      return body.asString()
          .then(Mono.error(BackendException.unusable("The backend answered " + response.status())));
    }
    return body.asString()
        .switchIfEmpty(Mono.error(() -> BackendException.unusable("The backend answered nothing")));
  }

  /** The {@link BackendException} that a failed call is. */
  public static Throwable failure(Throwable cause) {
    if (cause instanceof BackendException) {
      return cause;
    }
    return isTimeout(cause) ? BackendException.timeout(cause) : BackendException.unusable(cause);
  }

  /** A connect, response or pool time-out: three unrelated types. */
  private static boolean isTimeout(Throwable cause) {
    return cause instanceof ConnectTimeoutException
        || cause instanceof TimeoutException
        || cause instanceof java.util.concurrent.TimeoutException;
  }
}
