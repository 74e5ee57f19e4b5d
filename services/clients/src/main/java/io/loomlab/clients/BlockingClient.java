package io.loomlab.clients;

import io.loomlab.contract.About;
import io.loomlab.contract.BlockingBackend;
import io.loomlab.contract.Settings;

/** A blocking backend client that tells what it is configured to do. */
public interface BlockingClient extends BlockingBackend, AutoCloseable {
  About.Outbound about();

  @Override
  void close();

  /** The one that the settings name. */
  static BlockingClient of(Settings settings) {
    return switch (settings.httpClient()) {
      case APACHE -> new ApacheClient(settings);
      case JDK -> new JdkClient(settings);
      case REACTOR -> new BlockingReactorClient(settings);
    };
  }
}
