package io.loomlab.webflux.idiomatic;

import io.loomlab.spring.idiomatic.BackendCalls;

/** {@code WebClient}, used synchronously. */
class BlockingWebBackend implements BackendCalls {
  private final WebBackend backend;

  BlockingWebBackend(WebBackend backend) {
    this.backend = backend;
  }

  @Override
  public <T> T get(Class<T> type, String uri, Object... variables) {
    return backend.get(type, uri, variables).block();
  }
}
