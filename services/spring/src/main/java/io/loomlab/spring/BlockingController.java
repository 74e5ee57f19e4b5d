package io.loomlab.spring;

import io.loomlab.contract.Answer;
import io.loomlab.contract.BlockingEndpoints;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.Params;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;

/** Every GET for handlers that may block. Reading a body differs by web stack and is not here. */
@Controller
class BlockingController {
  private final BlockingEndpoints endpoints;

  BlockingController(BlockingEndpoints endpoints) {
    this.endpoints = endpoints;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  Answer capabilities() {
    return endpoints.capabilities();
  }

  @GetMapping(Endpoint.MEETINGS_PATH)
  Answer meetings(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false) String authorization) {
    return endpoints.meetings(authorization);
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_PATH)
  Answer epochMillis(@RequestParam(name = Params.DELAY, required = false) String delay) {
    return endpoints.epochMillis(delay);
  }

  @GetMapping(Endpoint.MOVIES_PATH)
  Answer movies(
      @RequestParam(name = Params.DIRECTOR, required = false) String director,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    return endpoints.movies(director, delay);
  }

  @GetMapping(Endpoint.BLOCK_PATH)
  Answer block(@PathVariable("seconds") String seconds) {
    return endpoints.block(seconds);
  }

  @GetMapping(Endpoint.PINNED_PATH)
  Answer pinned(@RequestParam(name = Params.DELAY, required = false) String delay) {
    return endpoints.pinned(delay);
  }
}
