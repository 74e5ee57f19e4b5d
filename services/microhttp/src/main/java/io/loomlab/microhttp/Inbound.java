package io.loomlab.microhttp;

import io.loomlab.core.settings.About;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import org.microhttp.EventLoop;
import org.microhttp.LabServer;
import org.microhttp.Options;

/** The inbound part of /about. */
final class Inbound {
  private static final int ACCEPTOR = 1;
  private static final String VERSION = version();

  private Inbound() {}

  /**
   * As the running server tells it. It has no limit of connections.
   *
   * @param executor runs the handlers, null where the event loops do
   */
  static About.Inbound of(LabServer server, ExecutorService executor) {
    Options options = server.options();
    return new About.Inbound(
        "microhttp",
        VERSION,
        null,
        "nio",
        null,
        options.acceptLength(),
        null,
        options.requestTimeout().toMillis(),
        server.tcpNoDelay(),
        executor == null ? null : executor.getClass().getName(),
        executor instanceof ThreadPoolExecutor pool ? pool.getMaximumPoolSize() : null,
        ACCEPTOR + options.concurrency(),
        "platform",
        Map.of());
  }

  private static String version() {
    try (InputStream file =
        EventLoop.class.getResourceAsStream(
            "/META-INF/maven/org.microhttp/microhttp/pom.properties")) {
      Properties properties = new Properties();
      properties.load(file);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
