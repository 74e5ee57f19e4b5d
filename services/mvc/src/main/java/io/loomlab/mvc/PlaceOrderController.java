package io.loomlab.mvc;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.http.RequestBody;
import io.loomlab.spring.LabApplication;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;

@Controller
@ConditionalOnBooleanProperty(LabApplication.DATABASE)
class PlaceOrderController {
  private final Endpoints<Answer> endpoints;

  PlaceOrderController(Endpoints<Answer> endpoints) {
    this.endpoints = endpoints;
  }

  @PostMapping(Endpoint.ORDERS_PATH)
  Answer place(HttpServletRequest request) throws IOException {
    byte[] body = RequestBody.read(request.getInputStream());
    return endpoints.answer(
        Endpoint.PLACE_ORDER, () -> ParsedRequest.placeOrder(request.getContentType(), body));
  }
}
