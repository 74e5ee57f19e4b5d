package io.loomlab.netty;

import io.loomlab.contract.About;
import io.loomlab.contract.BackendException;
import io.loomlab.contract.BackendPaths;
import io.loomlab.contract.Settings;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.timeout.TimeoutException;
import java.io.IOException;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientConfig;
import reactor.netty.resources.ConnectionProvider;

/** Reactive calls: WebClient over reactor-netty, on the server's event loops. */
@Component
class BackendClient implements AutoCloseable {
  private static final int UNBOUNDED = -1;

  private final ConnectionProvider pool;
  private final HttpClient http;
  private final WebClient client;
  private final Settings settings;

  BackendClient(Settings settings) {
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
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) settings.connectTimeout().toMillis())
            .option(ChannelOption.TCP_NODELAY, true)
            .responseTimeout(settings.responseTimeout())
            .disableRetry(true)
            .compress(false)
            .followRedirect(false)
            .headers(headers -> headers.remove(HttpHeaderNames.USER_AGENT));
    client =
        WebClient.builder()
            .baseUrl(settings.backendUrl().toString())
            .clientConnector(new ReactorClientHttpConnector(http))
            .build();
  }

  /** The capabilities of whoever the backend authenticates: three calls in succession. */
  Mono<String> capabilities() {
    return get(BackendPaths.AUTHENTICATION)
        .flatMap(token -> get(BackendPaths.authorization(token)))
        .flatMap(role -> get(BackendPaths.capabilities(role)));
  }

  /** What pool and client are configured to do. */
  About.Outbound about() {
    HttpClientConfig configuration = http.configuration();
    Map<ChannelOption<?>, ?> options = configuration.options();
    return new About.Outbound(
        "reactor-netty",
        HttpClient.class.getPackage().getImplementationVersion(),
        pool.maxConnections(),
        pool.maxConnections(),
        null,
        (Integer) options.get(ChannelOption.CONNECT_TIMEOUT_MILLIS),
        configuration.responseTimeout().toMillis(),
        settings.poolTimeout().toMillis(),
        settings.keepAlive().toMillis(),
        Boolean.TRUE.equals(options.get(ChannelOption.TCP_NODELAY)));
  }

  @Override
  public void close() {
    pool.dispose();
  }

  private Mono<String> get(String path) {
    return client
        .get()
        .uri(path)
        .accept(MediaType.TEXT_PLAIN)
        .exchangeToMono(BackendClient::okBody)
        .onErrorMap(BackendClient::failure);
  }

  private static Mono<String> okBody(ClientResponse response) {
    if (response.statusCode() != HttpStatus.OK) {
      return response
          .releaseBody()
          .then(Mono.error(unusable("The backend answered " + response.statusCode())));
    }
    return response
        .bodyToMono(String.class)
        .switchIfEmpty(Mono.error(() -> unusable("The backend answered nothing")));
  }

  private static Throwable failure(Throwable failure) {
    Throwable cause = failure instanceof WebClientRequestException ? failure.getCause() : failure;
    return isTimeout(cause) ? BackendException.timeout(cause) : BackendException.unusable(cause);
  }

  /** A connect, response or pool time-out: three unrelated types. */
  private static boolean isTimeout(Throwable cause) {
    return cause instanceof ConnectTimeoutException
        || cause instanceof TimeoutException
        || cause instanceof java.util.concurrent.TimeoutException;
  }

  private static IOException unusable(String sentence) {
    return new IOException(sentence);
  }
}
