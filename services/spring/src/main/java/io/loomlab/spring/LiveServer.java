package io.loomlab.spring;

import io.loomlab.core.settings.About;

/** The running server, to read effective values from. */
public interface LiveServer {
  About.Inbound about();

  /** Inbound connections now; 0 until the server runs. */
  long openConnections();

  /** Whether a thread is one of the server's event loops. */
  default boolean isEventLoop(Thread thread) {
    return false;
  }
}
