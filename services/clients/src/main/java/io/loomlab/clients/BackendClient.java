package io.loomlab.clients;

import io.loomlab.core.settings.About;

/** A client of the backend, whether its caller blocks or not. */
public interface BackendClient extends AutoCloseable {
  /** What it is configured to do. */
  About.Outbound about();

  @Override
  void close();
}
