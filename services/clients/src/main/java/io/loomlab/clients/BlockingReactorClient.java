package io.loomlab.clients;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Settings;
import reactor.core.Exceptions;

/** reactor-netty, whose caller blocks until the answer is there. */
final class BlockingReactorClient implements BlockingClient {
  private final ReactorClient reactor;

  BlockingReactorClient(Settings settings) {
    reactor = new ReactorClient(settings);
  }

  @Override
  public String get(String path) {
    try {
      return reactor.get(path).block();
    } catch (BackendException e) {
      throw e;
    } catch (RuntimeException e) {
      throw BackendException.unusable(Exceptions.unwrap(e));
    }
  }

  @Override
  public About.Outbound about() {
    return reactor.about();
  }

  @Override
  public void close() {
    reactor.close();
  }
}
