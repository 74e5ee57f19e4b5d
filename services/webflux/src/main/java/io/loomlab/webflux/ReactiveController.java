package io.loomlab.webflux;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Params;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.spring.EndpointsController;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import reactor.core.publisher.Mono;

@Controller
class ReactiveController extends EndpointsController<Mono<Answer>> {
  private final Endpoints<Mono<Answer>> endpoints;

  ReactiveController(Endpoints<Mono<Answer>> endpoints) {
    super(endpoints);
    this.endpoints = endpoints;
  }

  @PostMapping(Endpoint.MOVIES_PATH)
  Mono<Answer> saveMovies(
      ServerHttpRequest request,
      @RequestHeader(name = HttpHeaders.CONTENT_TYPE, required = false) String contentType,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    return Body.of(request)
        .flatMap(
            body ->
                endpoints.answer(
                    Endpoint.SAVE_MOVIES,
                    () -> ParsedRequest.saveMovies(contentType, delay, body)));
  }
}
