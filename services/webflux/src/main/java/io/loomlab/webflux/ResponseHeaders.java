package io.loomlab.webflux;

import io.loomlab.core.http.HttpDate;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpVersion;
import org.springframework.http.HttpHeaders;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** The headers that Tomcat sends and Netty does not: Date, and consent to HTTP/1.0 keep-alive. */
final class ResponseHeaders {
  private ResponseHeaders() {}

  static Mono<Void> complete(Mono<Void> handled, Connection exchange) {
    HttpServerRequest request = (HttpServerRequest) exchange;
    HttpServerResponse response = (HttpServerResponse) exchange;
    response.header(HttpHeaders.DATE, HttpDate.now());
    if (request.version() == HttpVersion.HTTP_1_0
        && request
            .requestHeaders()
            .containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE, true)) {
      response.header(HttpHeaders.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    return handled;
  }
}
