package io.loomlab.core.work;

import io.loomlab.core.http.BackendException;

/** A backend client that blocks its caller until the answer is there. */
@FunctionalInterface
public interface BlockingBackend {
  /**
   * The body of a GET.
   *
   * @throws BackendException if there is no usable one
   */
  String get(String path);
}
