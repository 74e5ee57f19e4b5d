package io.loomlab.webflux;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.OrdersController;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import reactor.core.publisher.Mono;

@Controller
@ConditionalOnBooleanProperty(LabApplication.DATABASE)
class ReactiveOrdersController extends OrdersController<Mono<Answer>> {
  ReactiveOrdersController(Endpoints<Mono<Answer>> endpoints) {
    super(endpoints);
  }

  @PostMapping(Endpoint.ORDERS_PATH)
  Mono<Answer> place(
      ServerHttpRequest request,
      @RequestHeader(name = HttpHeaders.CONTENT_TYPE, required = false) String contentType) {
    return Body.of(request)
        .flatMap(
            body ->
                endpoints.answer(
                    Endpoint.PLACE_ORDER, () -> ParsedRequest.placeOrder(contentType, body)));
  }
}
