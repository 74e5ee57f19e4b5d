package io.loomlab.spring;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import org.springframework.stereotype.Controller;

@Controller
class BlockingController extends EndpointsController<Answer> {
  BlockingController(Endpoints<Answer> endpoints) {
    super(endpoints);
  }
}
