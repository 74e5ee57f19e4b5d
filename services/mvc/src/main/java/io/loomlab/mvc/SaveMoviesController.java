package io.loomlab.mvc;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Params;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.http.RequestBody;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PostMapping;

@Controller
class SaveMoviesController {
  private final Endpoints<Answer> endpoints;

  SaveMoviesController(Endpoints<Answer> endpoints) {
    this.endpoints = endpoints;
  }

  /** The body first: asked for a parameter, a servlet server would parse a form that is in it. */
  @PostMapping(Endpoint.MOVIES_PATH)
  Answer saveMovies(HttpServletRequest request) throws IOException {
    byte[] body = RequestBody.read(request.getInputStream());
    String delay = request.getParameter(Params.DELAY);
    return endpoints.answer(
        Endpoint.SAVE_MOVIES,
        () -> ParsedRequest.saveMovies(request.getContentType(), delay, body));
  }
}
