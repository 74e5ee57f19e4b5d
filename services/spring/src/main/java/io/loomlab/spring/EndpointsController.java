package io.loomlab.spring;

import io.loomlab.core.Endpoint;
import io.loomlab.core.Endpoints;
import io.loomlab.core.Params;
import io.loomlab.core.ParsedRequest;
import org.springframework.http.HttpHeaders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Every GET; how a body is read depends on the web stack and is not here. Handlers return Object
 * and not T, because WebFlux would resolve the type variable for each request.
 *
 * @param <T> as of {@link Endpoints}
 */
public abstract class EndpointsController<T> {
  private final Endpoints<T> endpoints;

  protected EndpointsController(Endpoints<T> endpoints) {
    this.endpoints = endpoints;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  Object capabilities(
      @RequestParam(name = Params.CPU_MICROS, required = false) String cpuMicros,
      @RequestParam(name = Params.CALLS, required = false) String calls,
      @RequestParam(name = Params.PARALLEL, required = false) String parallel) {
    return endpoints.answer(
        Endpoint.CAPABILITIES, () -> ParsedRequest.capabilities(cpuMicros, calls, parallel));
  }

  @GetMapping(Endpoint.MEETINGS_PATH)
  Object meetings(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false) String authorization) {
    return endpoints.answer(Endpoint.MEETINGS, () -> ParsedRequest.meetings(authorization));
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_PATH)
  Object epochMillis(
      @RequestParam(name = Params.DELAY, required = false) String delay,
      @RequestParam(name = Params.CPU_MICROS, required = false) String cpuMicros) {
    return endpoints.answer(
        Endpoint.EPOCH_MILLIS, () -> ParsedRequest.epochMillis(delay, cpuMicros));
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_OF_PATH)
  Object epochMillisOf(
      @RequestParam(name = Params.DELAY_MILLIS, required = false) String delayMillis,
      @RequestParam(name = Params.DELAY, required = false) String delayInMillis,
      @RequestParam(name = Params.CPU_MICROS, required = false) String cpuMicros) {
    return endpoints.answer(
        Endpoint.EPOCH_MILLIS,
        () -> ParsedRequest.epochMillisOf(delayMillis, delayInMillis, cpuMicros));
  }

  @GetMapping(Endpoint.MOVIES_PATH)
  Object movies(
      @RequestParam(name = Params.DIRECTOR, required = false) String director,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    return endpoints.answer(Endpoint.MOVIES, () -> ParsedRequest.findMovies(director, delay));
  }

  @GetMapping(Endpoint.BLOCK_PATH)
  Object block(@PathVariable("seconds") String seconds) {
    return endpoints.answer(Endpoint.BLOCK, () -> ParsedRequest.block(seconds));
  }

  @GetMapping(Endpoint.PINNED_PATH)
  Object pinned(@RequestParam(name = Params.DELAY, required = false) String delay) {
    return endpoints.answer(Endpoint.PINNED, () -> ParsedRequest.pinned(delay));
  }
}
