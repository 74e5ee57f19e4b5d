package io.loomlab.spring;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Params;
import io.loomlab.core.http.ParsedRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.util.MultiValueMap;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Every GET; how a body is read depends on the web stack and is not here. Handlers return Object
 * and not T, because WebFlux would resolve the type variable for each request. They take the query
 * as one argument: each is a look-up on MVC, but a chain of operators on WebFlux.
 *
 * @param <T> as of {@link Endpoints}
 */
public abstract class EndpointsController<T> {
  private final Endpoints<T> endpoints;

  protected EndpointsController(Endpoints<T> endpoints) {
    this.endpoints = endpoints;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  Object capabilities(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.CAPABILITIES,
        () ->
            ParsedRequest.capabilities(
                query.getFirst(Params.CPU_MICROS),
                query.getFirst(Params.CALLS),
                query.getFirst(Params.PARALLEL)));
  }

  @GetMapping(Endpoint.MEETINGS_PATH)
  Object meetings(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false) String authorization) {
    return endpoints.answer(Endpoint.MEETINGS, () -> ParsedRequest.meetings(authorization));
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_PATH)
  Object epochMillis(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.EPOCH_MILLIS,
        () ->
            ParsedRequest.epochMillis(
                query.getFirst(Params.DELAY), query.getFirst(Params.CPU_MICROS)));
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_OF_PATH)
  Object epochMillisOf(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.EPOCH_MILLIS,
        () ->
            ParsedRequest.epochMillisOf(
                query.getFirst(Params.DELAY_MILLIS),
                query.getFirst(Params.DELAY),
                query.getFirst(Params.CPU_MICROS)));
  }

  @GetMapping(Endpoint.MOVIES_PATH)
  Object movies(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.MOVIES,
        () ->
            ParsedRequest.findMovies(
                query.getFirst(Params.DIRECTOR), query.getFirst(Params.DELAY)));
  }

  @GetMapping(Endpoint.BLOCK_PATH)
  Object block(@PathVariable("seconds") String seconds) {
    return endpoints.answer(Endpoint.BLOCK, () -> ParsedRequest.block(seconds));
  }

  @GetMapping(Endpoint.PINNED_PATH)
  Object pinned(@RequestParam MultiValueMap<String, String> query) {
    return endpoints.answer(
        Endpoint.PINNED, () -> ParsedRequest.pinned(query.getFirst(Params.DELAY)));
  }
}
