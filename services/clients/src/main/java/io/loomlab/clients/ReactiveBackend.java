package io.loomlab.clients;

import io.loomlab.core.http.BackendException;
import reactor.core.publisher.Mono;

/** A backend client that gives its answer later. */
@FunctionalInterface
public interface ReactiveBackend {
  /** The body of a GET; fails with a {@link BackendException} if there is no usable one. */
  Mono<String> get(String path);
}
