package io.loomlab.spring;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.RefusedException;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;

/** Refuses the methods that Spring would answer by itself wherever it finds a GET. */
@Controller
class WrongMethodController {
  @RequestMapping(
      path = {
        Endpoint.CAPABILITIES_PATH,
        Endpoint.MEETINGS_PATH,
        Endpoint.EPOCH_MILLIS_PATH,
        Endpoint.EPOCH_MILLIS_OF_PATH,
        Endpoint.BLOCK_PATH,
        Endpoint.PINNED_PATH,
        Endpoint.ABOUT_PATH
      },
      method = {RequestMethod.HEAD, RequestMethod.OPTIONS})
  void onlyGet() {
    throw RefusedException.method("GET");
  }

  @RequestMapping(
      path = Endpoint.MOVIES_PATH,
      method = {RequestMethod.HEAD, RequestMethod.OPTIONS})
  void getOrPost() {
    throw RefusedException.method("GET,POST");
  }
}
