package io.loomlab.webflux;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;

/** As {@link BlockingSaveMoviesController}. */
@Controller
@ConditionalOnBooleanProperty(LabApplication.DATABASE)
class BlockingPlaceOrderController {
  private final Endpoints<Answer> endpoints;

  BlockingPlaceOrderController(Endpoints<Answer> endpoints) {
    this.endpoints = endpoints;
  }

  @PostMapping(Endpoint.ORDERS_PATH)
  Answer place(
      ServerHttpRequest request,
      @RequestHeader(name = HttpHeaders.CONTENT_TYPE, required = false) String contentType) {
    byte[] body = Body.of(request).block();
    return endpoints.answer(
        Endpoint.PLACE_ORDER, () -> ParsedRequest.placeOrder(contentType, body));
  }
}
