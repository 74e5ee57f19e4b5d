package io.loomlab.webflux;

import io.loomlab.core.http.Answer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Writes the contract's answers as they are, given at once or later; asked after Spring's own, as
 * on MVC, but for the one that would take any value for a view.
 */
@Order(Ordered.LOWEST_PRECEDENCE - 1)
public class AnswerResultHandler implements HandlerResultHandler {
  @Override
  public boolean supports(HandlerResult result) {
    Object value = result.getReturnValue();
    return value instanceof Answer || value instanceof Mono;
  }

  @Override
  public Mono<Void> handleResult(ServerWebExchange exchange, HandlerResult result) {
    return result.getReturnValue() instanceof Mono<?> later
        ? later.flatMap(answer -> write((Answer) answer, exchange.getResponse()))
        : write((Answer) result.getReturnValue(), exchange.getResponse());
  }

  /** Puts an answer out. */
  public static Mono<Void> write(Answer answer, ServerHttpResponse response) {
    response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
    HttpHeaders headers = response.getHeaders();
    headers.set(HttpHeaders.CONTENT_TYPE, answer.contentType());
    headers.setContentLength(answer.body().length);
    if (answer.allow() != null) {
      headers.set(HttpHeaders.ALLOW, answer.allow());
    }
    return response.writeWith(Mono.just(response.bufferFactory().wrap(answer.body())));
  }
}
