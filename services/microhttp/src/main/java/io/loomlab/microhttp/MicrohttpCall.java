package io.loomlab.microhttp;

import io.loomlab.core.http.Router;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.microhttp.Request;

/** A request as the routers read it. */
record MicrohttpCall(Request request, String path, String query) implements Router.Call {
  static MicrohttpCall of(Request request) {
    String target = request.uri();
    int question = target.indexOf('?');
    return question < 0
        ? new MicrohttpCall(request, target, "")
        : new MicrohttpCall(request, target.substring(0, question), target.substring(question + 1));
  }

  @Override
  public String method() {
    return request.method();
  }

  @Override
  public String query(String name) {
    int start = 0;
    while (start < query.length()) {
      int and = query.indexOf('&', start);
      int end = and < 0 ? query.length() : and;
      if (query.startsWith(name, start) && valueFollows(start + name.length(), end)) {
        return decoded(query.substring(Math.min(start + name.length() + 1, end), end));
      }
      start = end + 1;
    }
    return null;
  }

  @Override
  public String header(String name) {
    return request.header(name);
  }

  @Override
  public byte[] body() {
    return request.body();
  }

  private boolean valueFollows(int index, int end) {
    return index == end || query.charAt(index) == '=';
  }

  /** Null, as if it were missing, where a percent sign is not followed by two digits. */
  private static String decoded(String value) {
    try {
      return URLDecoder.decode(value, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
