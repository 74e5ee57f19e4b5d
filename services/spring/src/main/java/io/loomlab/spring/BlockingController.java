package io.loomlab.spring;

import io.loomlab.contract.Answer;
import io.loomlab.contract.Endpoints;
import org.springframework.stereotype.Controller;

@Controller
class BlockingController extends EndpointsController<Answer> {
  BlockingController(Endpoints<Answer> endpoints) {
    super(endpoints);
  }
}
