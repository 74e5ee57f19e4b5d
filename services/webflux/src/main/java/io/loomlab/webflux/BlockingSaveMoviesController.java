package io.loomlab.webflux;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Params;
import io.loomlab.core.http.ParsedRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Waits for the body, which the lab's own {@link Body} reads because of the limit of its length.
 */
@Controller
class BlockingSaveMoviesController {
  private final Endpoints<Answer> endpoints;

  BlockingSaveMoviesController(Endpoints<Answer> endpoints) {
    this.endpoints = endpoints;
  }

  @PostMapping(Endpoint.MOVIES_PATH)
  Answer saveMovies(
      ServerHttpRequest request,
      @RequestHeader(name = HttpHeaders.CONTENT_TYPE, required = false) String contentType,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    byte[] body = Body.of(request).block();
    return endpoints.answer(
        Endpoint.SAVE_MOVIES, () -> ParsedRequest.saveMovies(contentType, delay, body));
  }
}
