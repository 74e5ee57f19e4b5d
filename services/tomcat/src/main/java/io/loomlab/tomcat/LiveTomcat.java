package io.loomlab.tomcat;

import io.loomlab.core.settings.About;
import io.loomlab.mvc.MvcConfiguration;
import io.loomlab.spring.LiveServer;
import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** The running connector's protocol, to read effective values from. */
class LiveTomcat implements LiveServer {
  /** One of each, whatever the executor: {@code NioEndpoint.startInternal} of Tomcat 11. */
  private static final int ACCEPTOR_AND_POLLER = 2;

  private volatile AbstractHttp11Protocol<?> protocol;

  void watch(AbstractHttp11Protocol<?> live) {
    protocol = live;
  }

  /** Tomcat counts the connection that its acceptor waits for, too. */
  @Override
  public long openConnections() {
    AbstractHttp11Protocol<?> live = protocol;
    return live == null ? 0 : Math.max(0, live.getConnectionCount() - 1);
  }

  @Override
  public About.Inbound about() {
    Executor executor = protocol.getExecutor();
    return new About.Inbound(
        "tomcat",
        ServerInfo.getServerNumber(),
        MvcConfiguration.FRAMEWORK,
        "nio",
        protocol.getMaxConnections(),
        protocol.getAcceptCount(),
        protocol.getMaxKeepAliveRequests() < 0 ? null : protocol.getMaxKeepAliveRequests(),
        (long) protocol.getKeepAliveTimeout(),
        protocol.getTcpNoDelay(),
        executor.getClass().getName(),
        executor instanceof ThreadPoolExecutor pool ? pool.getMaximumPoolSize() : null,
        ACCEPTOR_AND_POLLER,
        "platform",
        Map.of("processor_cache", protocol.getProcessorCache()));
  }
}
