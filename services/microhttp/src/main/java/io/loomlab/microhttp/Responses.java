package io.loomlab.microhttp;

import io.loomlab.core.Answer;
import io.loomlab.core.HttpDate;
import io.loomlab.core.Problem;
import java.util.ArrayList;
import java.util.List;
import org.microhttp.Header;
import org.microhttp.Request;
import org.microhttp.Response;

/** Answers as microhttp sends them. It adds Content-Length and, over HTTP/1.0, Connection. */
final class Responses {
  private static final System.Logger LOG = System.getLogger(Responses.class.getName());
  private static final byte[] NONE = {};

  private Responses() {}

  /** Never throws, because microhttp would then send nothing: what fails is answered as a bug. */
  static Response of(Answer answer, Request request) {
    try {
      return response(answer, request);
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "A request failed: {0}", e.toString());
      return response(Answer.problem(500), request);
    }
  }

  private static Response response(Answer answer, Request request) {
    List<Header> headers = new ArrayList<>(4);
    headers.add(new Header("Content-Type", answer.contentType()));
    headers.add(new Header("Date", HttpDate.now()));
    if (answer.allow() != null) {
      headers.add(new Header("Allow", answer.allow()));
    }
    byte[] body = answer.body();
    if (request.method().equals("HEAD")) {
      headers.add(new Header("Content-Length", String.valueOf(body.length)));
      body = NONE;
    }
    return new Response(answer.status(), reason(answer.status()), headers, body);
  }

  private static String reason(int status) {
    return status == 200 ? "OK" : Problem.of(status).title();
  }
}
