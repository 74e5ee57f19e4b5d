package io.loomlab.core.work;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.settings.Settings;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/** Serves so many requests at once; the threads of others wait, in the order in which they came. */
public final class LimitedEndpoints implements Endpoints<Answer> {
  private final Endpoints<Answer> endpoints;
  private final Semaphore permits;

  private LimitedEndpoints(Endpoints<Answer> endpoints, int limit) {
    this.endpoints = endpoints;
    permits = new Semaphore(limit, true);
  }

  /** These endpoints, behind the limit of the settings if there is one. */
  public static Endpoints<Answer> of(Settings settings, Endpoints<Answer> endpoints) {
    return settings.bounds() ? new LimitedEndpoints(endpoints, settings.limit()) : endpoints;
  }

  @Override
  public Answer answer(Endpoint endpoint, Supplier<ParsedRequest> request) {
    permits.acquireUninterruptibly();
    try {
      return endpoints.answer(endpoint, request);
    } finally {
      permits.release();
    }
  }
}
