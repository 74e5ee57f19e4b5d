package io.loomlab.core.http;

import java.util.function.Supplier;

/**
 * The endpoints under one concurrency model.
 *
 * @param <T> how an answer is given: an {@link Answer}, or something that will hold one
 */
public interface Endpoints<T> {
  /**
   * Answers a request and records it. Never throws and never gives a failed result: what goes wrong
   * becomes an answer with a problem. Must be called on the thread that serves the request.
   *
   * @param request reads the parameters; what it throws becomes the answer
   */
  T answer(Endpoint endpoint, Supplier<ParsedRequest> request);
}
