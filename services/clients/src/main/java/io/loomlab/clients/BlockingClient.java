package io.loomlab.clients;

import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.Settings.Client;
import io.loomlab.core.work.BlockingBackend;

/** A client of the backend whose caller blocks. */
public interface BlockingClient extends BlockingBackend, BackendClient {
  /** The one that the settings name, or Apache's. */
  static BlockingClient of(Settings settings) {
    return of(settings, Client.APACHE);
  }

  /** The one that the settings name, or the approach's own. */
  static BlockingClient of(Settings settings, Client own) {
    Client named = settings.httpClient();
    return switch (named == Client.DEFAULT ? own : named) {
      case APACHE -> new ApacheClient(settings);
      case JDK -> new JdkClient(settings);
      case REACTOR -> new BlockingReactorClient(settings);
      case DEFAULT -> throw new IllegalArgumentException("an approach's own client has a name");
    };
  }
}
