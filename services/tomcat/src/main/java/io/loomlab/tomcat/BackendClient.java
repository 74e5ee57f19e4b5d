package io.loomlab.tomcat;

import io.loomlab.contract.About;
import io.loomlab.contract.BackendException;
import io.loomlab.contract.BlockingBackend;
import io.loomlab.contract.Settings;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.impl.io.DefaultHttpResponseParserFactory;
import org.apache.hc.core5.http.io.SocketConfig;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.apache.hc.core5.util.VersionInfo;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

/** Blocking calls: RestClient over Apache HttpClient. */
@Component
class BackendClient implements BlockingBackend, AutoCloseable {
  /**
   * Only a connection that rested this long is probed before use: under load none is, and after a
   * pause a backend that was restarted meanwhile costs no errors (Netty sees closed ones by
   * itself).
   */
  private static final TimeValue PROBE_AFTER = TimeValue.ofSeconds(10);

  private final PoolingHttpClientConnectionManager pool;
  private final RequestConfig requestConfig;
  private final ConnectionConfig connectionConfig;
  private final SocketConfig socketConfig;
  private final CloseableHttpClient http;
  private final RestClient client;

  BackendClient(Settings settings) {
    socketConfig = SocketConfig.custom().setTcpNoDelay(true).build();
    connectionConfig =
        ConnectionConfig.custom()
            .setConnectTimeout(Timeout.of(settings.connectTimeout()))
            .setValidateAfterInactivity(PROBE_AFTER)
            .build();
    requestConfig =
        RequestConfig.custom()
            .setConnectionRequestTimeout(Timeout.of(settings.poolTimeout()))
            .setResponseTimeout(Timeout.of(settings.responseTimeout()))
            .setConnectionKeepAlive(TimeValue.of(settings.keepAlive()))
            .build();
    pool =
        PoolingHttpClientConnectionManagerBuilder.create()
            .setConnectionFactory(strictConnections())
            .setMaxConnTotal(settings.backendConnections())
            .setMaxConnPerRoute(settings.backendConnections())
            .setConnPoolPolicy(PoolReusePolicy.LIFO)
            .setDefaultSocketConfig(socketConfig)
            .setDefaultConnectionConfig(connectionConfig)
            .build();
    http =
        HttpClients.custom()
            .setConnectionManager(pool)
            .setDefaultRequestConfig(requestConfig)
            .disableAutomaticRetries()
            .disableRedirectHandling()
            .disableCookieManagement()
            .disableAuthCaching()
            .disableContentCompression()
            .disableDefaultUserAgent()
            .build();
    client =
        RestClient.builder()
            .baseUrl(settings.backendUrl())
            .requestFactory(new HttpComponentsClientHttpRequestFactory(http))
            .build();
  }

  @Override
  public String get(String path) {
    try {
      return client
          .get()
          .uri(path)
          .accept(MediaType.TEXT_PLAIN)
          .exchange((request, response) -> okBody(response));
    } catch (ResourceAccessException e) {
      throw e.getCause() instanceof InterruptedIOException
          ? BackendException.timeout(e.getCause())
          : BackendException.unusable(e);
    } catch (RestClientException e) {
      throw BackendException.unusable(e);
    }
  }

  /** What pool and client are configured to do. */
  About.Outbound about() {
    return new About.Outbound(
        "apache-httpclient",
        VersionInfo.loadVersionInfo("org.apache.hc.client5", getClass().getClassLoader())
            .getRelease(),
        pool.getMaxTotal(),
        pool.getDefaultMaxPerRoute(),
        null,
        connectionConfig.getConnectTimeout().toMilliseconds(),
        requestConfig.getResponseTimeout().toMilliseconds(),
        requestConfig.getConnectionRequestTimeout().toMilliseconds(),
        requestConfig.getConnectionKeepAlive().convert(TimeUnit.MILLISECONDS),
        socketConfig.isTcpNoDelay());
  }

  @Override
  public void close() throws IOException {
    http.close();
  }

  private static String okBody(RestClient.RequestHeadersSpec.ConvertibleClientHttpResponse response)
      throws IOException {
    if (response.getStatusCode() != HttpStatus.OK) {
      throw new RestClientException("The backend answered " + response.getStatusCode());
    }
    String body = response.bodyTo(String.class);
    if (body == null || body.isEmpty()) {
      throw new RestClientException("The backend answered nothing");
    }
    return body;
  }

  /** The client's own parser would skip garbage and go on waiting for a status line. */
  private static ManagedHttpClientConnectionFactory strictConnections() {
    return ManagedHttpClientConnectionFactory.builder()
        .responseParserFactory(new DefaultHttpResponseParserFactory())
        .build();
  }
}
