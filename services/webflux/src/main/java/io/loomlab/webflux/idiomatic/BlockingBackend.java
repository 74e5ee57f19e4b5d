package io.loomlab.webflux.idiomatic;

import io.loomlab.spring.idiomatic.Backend;

/** {@code WebClient}, used synchronously. */
class BlockingBackend implements Backend {
  private final WebBackend backend;

  BlockingBackend(WebBackend backend) {
    this.backend = backend;
  }

  @Override
  public <T> T get(Class<T> type, String uri, Object... variables) {
    return backend.get(type, uri, variables).block();
  }
}
