package io.loomlab.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1Connection;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/** Helidon's connections, counted. */
final class Connections implements ServerConnectionSelector {
  private final LongAdder open = new LongAdder();
  private final Http1ConnectionSelector http1;

  Connections(Http1Config config) {
    http1 = Http1ConnectionSelector.builder().config(config).build();
  }

  /** How many are open. */
  long open() {
    return open.sum();
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    return new CountedConnection((Http1Connection) http1.connection(context), open);
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http1.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return Support.SUPPORTED;
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http1.supportedApplicationProtocols();
  }
}
