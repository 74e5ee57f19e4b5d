package io.loomlab.helidon;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.DirectHandler.TransportResponse;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Router;

/** Sends answers. Helidon adds Content-Length and Date. */
final class Answers {
  private Answers() {}

  /** Answers every request by the router. */
  static Handler by(Router<Answer> router) {
    return (request, response) -> send(router.answer(new HelidonCall(request)), request, response);
  }

  /** Answers as problems what Helidon refuses before there is a request to route. */
  static DirectHandlers problems() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (EventType type : EventType.values()) {
      handlers.addHandler(
          type, (request, event, status, headers, message) -> problem(status.code()));
    }
    return handlers.build();
  }

  private static void send(Answer answer, ServerRequest request, ServerResponse response) {
    response.status(Status.create(answer.status()));
    response.header(HeaderNames.CONTENT_TYPE, answer.contentType());
    if (answer.allow() != null) {
      response.header(HeaderNames.ALLOW, answer.allow());
    }
    boolean ends = request.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
    if (ends) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    if (request.prologue().method().equals(Method.HEAD)) {
      response.contentLength(answer.body().length);
      response.send();
    } else {
      response.send(answer.body());
    }
    if (ends) {
      // Helidon itself would say so and keep the connection.
      throw new CloseConnectionException("The client wants no further request.");
    }
  }

  private static TransportResponse problem(int status) {
    Answer answer = Answer.problem(status);
    return TransportResponse.builder()
        .status(Status.create(answer.status()))
        .header(HeaderNames.CONTENT_TYPE, answer.contentType())
        .entity(answer.body())
        .build();
  }
}
