package io.loomlab.spring;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Controller;

@Controller
@ConditionalOnBooleanProperty(LabApplication.DATABASE)
class BlockingOrdersController extends OrdersController<Answer> {
  BlockingOrdersController(Endpoints<Answer> endpoints) {
    super(endpoints);
  }
}
