package io.loomlab.clients;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.BackendPaths;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.classic.HttpClient;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.HttpStatus;
import org.apache.hc.core5.http.Method;
import org.apache.hc.core5.http.impl.io.DefaultHttpResponseParserFactory;
import org.apache.hc.core5.http.io.SocketConfig;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.message.BasicClassicHttpRequest;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.apache.hc.core5.util.VersionInfo;

/** Apache HttpClient, classic. */
public final class ApacheClient implements BlockingClient {
  /**
   * Only a connection that rested this long is probed before use: under load none is, and after a
   * pause a backend that was restarted meanwhile costs no errors (Netty sees closed ones by
   * itself).
   */
  private static final TimeValue PROBE_AFTER = TimeValue.ofSeconds(10);

  private final HttpHost backend;
  private final PoolingHttpClientConnectionManager pool;
  private final RequestConfig requestConfig;
  private final ConnectionConfig connectionConfig;
  private final SocketConfig socketConfig;
  private final CloseableHttpClient http;

  public ApacheClient(Settings settings) {
    backend = HttpHost.create(settings.backendUrl());
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
            .setUserAgent(BackendPaths.USER_AGENT)
            .build();
  }

  /** The client itself, for a framework that calls it. */
  public HttpClient http() {
    return http;
  }

  @Override
  public String get(String path) {
    BasicClassicHttpRequest request = new BasicClassicHttpRequest(Method.GET, backend, path);
    request.setHeader(HttpHeaders.ACCEPT, "*/*");
    try {
      return http.execute(backend, request, ApacheClient::okBody);
    } catch (InterruptedIOException e) {
      throw BackendException.timeout(e);
    } catch (IOException e) {
      throw BackendException.unusable(e);
    }
  }

  @Override
  public About.Outbound about() {
    return new About.Outbound(
        "apache-httpclient",
        VersionInfo.loadVersionInfo("org.apache.hc.client5", getClass().getClassLoader())
            .getRelease(),
        pool.getMaxTotal(),
        pool.getDefaultMaxPerRoute(),
        connectionConfig.getConnectTimeout().toMilliseconds(),
        requestConfig.getResponseTimeout().toMilliseconds(),
        requestConfig.getConnectionRequestTimeout().toMilliseconds(),
        requestConfig.getConnectionKeepAlive().convert(TimeUnit.MILLISECONDS),
        socketConfig.isTcpNoDelay(),
        "last used first, one lock",
        null,
        Map.of());
  }

  @Override
  public void close() {
    http.close(CloseMode.IMMEDIATE);
  }

  private static String okBody(ClassicHttpResponse response) throws IOException {
    HttpEntity entity = response.getEntity();
    if (response.getCode() != HttpStatus.SC_OK) {
      EntityUtils.consume(entity);
      throw BackendException.unusable("The backend answered " + response.getCode());
    }
    byte[] body = entity == null ? new byte[0] : EntityUtils.toByteArray(entity);
    if (body.length == 0) {
      throw BackendException.unusable("The backend answered nothing");
    }
    return new String(body, StandardCharsets.UTF_8);
  }

  /** The client's own parser would skip garbage and go on waiting for a status line. */
  private static ManagedHttpClientConnectionFactory strictConnections() {
    return ManagedHttpClientConnectionFactory.builder()
        .responseParserFactory(new DefaultHttpResponseParserFactory())
        .build();
  }
}
