package io.loomlab.core;

import java.util.function.Supplier;

/**
 * The endpoints under one concurrency model.
 *
 * @param <T> how an answer is given: an {@link Answer}, or something that will hold one
 */
public interface Endpoints<T> {
  /**
   * The answer to a request, recorded; a problem is one, too: neither throws nor fails. To be
   * called on the thread that serves the request.
   *
   * @param request reads the parameters; what it throws becomes the answer
   */
  T answer(Endpoint endpoint, Supplier<ParsedRequest> request);
}
