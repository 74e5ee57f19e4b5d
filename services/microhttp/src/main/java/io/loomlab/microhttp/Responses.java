package io.loomlab.microhttp;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.HttpDate;
import io.loomlab.core.http.Problem;
import java.util.ArrayList;
import java.util.List;
import org.microhttp.Header;
import org.microhttp.Request;
import org.microhttp.Response;

/** Answers as microhttp sends them. It adds Content-Length and, over HTTP/1.0, Connection. */
final class Responses {
  private static final byte[] NONE = {};

  private Responses() {}

  static Response of(Answer answer, Request request) {
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
