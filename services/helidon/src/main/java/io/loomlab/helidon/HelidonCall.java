package io.loomlab.helidon;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.loomlab.core.http.RequestBody;
import io.loomlab.core.http.Router;

/** A request as the router reads it. */
record HelidonCall(ServerRequest request) implements Router.Call {
  @Override
  public String method() {
    return request.prologue().method().text();
  }

  @Override
  public String path() {
    return request.prologue().uriPath().path();
  }

  @Override
  public String query(String name) {
    return request.query().first(name).orElse(null);
  }

  @Override
  public String header(String name) {
    return request.headers().first(HeaderNames.create(name)).orElse(null);
  }

  @Override
  public byte[] body() {
    return request.content().hasEntity()
        ? RequestBody.read(request.content().inputStream())
        : new byte[0];
  }
}
