package io.loomlab.tomcat;

import io.loomlab.contract.About;
import java.util.concurrent.Executor;
import org.apache.catalina.util.ServerInfo;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/** The running connector's protocol, to read effective values from. */
class LiveTomcat {
  private volatile AbstractHttp11Protocol<?> protocol;

  void watch(AbstractHttp11Protocol<?> live) {
    protocol = live;
  }

  long openConnections() {
    AbstractHttp11Protocol<?> live = protocol;
    return live == null ? 0 : Math.max(0, live.getConnectionCount());
  }

  About.Inbound about() {
    Executor executor = protocol.getExecutor();
    return new About.Inbound(
        "tomcat",
        ServerInfo.getServerNumber(),
        "nio",
        protocol.getMaxConnections(),
        protocol.getAcceptCount(),
        protocol.getMaxKeepAliveRequests() < 0 ? null : protocol.getMaxKeepAliveRequests(),
        protocol.getKeepAliveTimeout(),
        protocol.getTcpNoDelay(),
        executor.getClass().getName(),
        executor instanceof ThreadPoolExecutor pool ? pool.getMaximumPoolSize() : null,
        null);
  }
}
