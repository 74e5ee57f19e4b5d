package io.loomlab.webflux.idiomatic;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.RefusedException;
import io.loomlab.webflux.AnswerResultHandler;
import io.loomlab.webflux.Body;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads a body before anybody judges the request, to refuse the one that is too long. */
@Component
class ReactiveLongBodies implements WebFilter {
  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    ServerHttpRequest request = exchange.getRequest();
    if (request.getMethod() != HttpMethod.POST
        || !request.getPath().value().equals(Endpoint.MOVIES_PATH)) {
      return chain.filter(exchange);
    }
    return Body.of(request)
        .map(bytes -> exchange.getResponse().bufferFactory().wrap(bytes))
        .flatMap(body -> chain.filter(exchange.mutate().request(withBody(request, body)).build()))
        .onErrorResume(
            RefusedException.class,
            refusal -> AnswerResultHandler.write(Answer.problem(refusal), exchange.getResponse()));
  }

  private static ServerHttpRequest withBody(ServerHttpRequest request, DataBuffer body) {
    return new ServerHttpRequestDecorator(request) {
      @Override
      public Flux<DataBuffer> getBody() {
        return Flux.just(body);
      }
    };
  }
}
