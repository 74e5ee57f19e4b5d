package io.loomlab.jetty;

import io.loomlab.core.settings.About;
import io.loomlab.mvc.MvcConfiguration;
import io.loomlab.spring.LiveServer;
import java.util.Map;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.VirtualThreadPool;

/** The running server, to read effective values from. */
class LiveJetty implements LiveServer {
  private volatile Server server;

  void watch(Server live) {
    server = live;
  }

  @Override
  public long openConnections() {
    return server == null ? 0 : connector().getConnectedEndPoints().size();
  }

  @Override
  public About.Inbound about() {
    ServerConnector connector = connector();
    return new About.Inbound(
        "jetty",
        Server.getVersion(),
        MvcConfiguration.FRAMEWORK,
        "nio",
        server.getBean(NetworkConnectionLimit.class).getMaxNetworkConnectionCount(),
        connector.getAcceptQueueSize(),
        null,
        connector.getIdleTimeout(),
        connector.getAcceptedTcpNoDelay(),
        server.getThreadPool().getClass().getName(),
        mostHandlers(),
        ThreadPools.others(server),
        server.getThreadPool() instanceof VirtualThreadPool ? "virtual" : "platform",
        Map.of("dispatch", ThreadPools.dispatch(server)));
  }

  private ServerConnector connector() {
    return (ServerConnector) server.getConnectors()[0];
  }

  private Integer mostHandlers() {
    return switch (server.getThreadPool()) {
      case QueuedThreadPool pool ->
          pool.getMaxThreads() - pool.getReservedThreads() - ThreadPools.others(server);
      case VirtualThreadPool limited when limited.getMaxConcurrentTasks() > 0 ->
          limited.getMaxConcurrentTasks();
      default -> null;
    };
  }
}
