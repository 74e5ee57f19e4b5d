package io.loomlab.webflux;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.settings.About;
import io.loomlab.spring.LiveServer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.Version;
import io.netty.util.concurrent.EventExecutor;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerConfig;

/** The running server, to read effective values from. */
class LiveNetty implements LiveServer {
  private final LongAdder connections = new LongAdder();
  private final CompletableFuture<Channel> listener = new CompletableFuture<>();
  private final Executor handlers;
  private volatile HttpServer server;

  /**
   * @param handlers what runs the handlers, null where the event loops do
   */
  LiveNetty(Executor handlers) {
    this.handlers = handlers;
  }

  HttpServer watch(HttpServer configured) {
    server =
        configured
            .doOnBound(bound -> listener.complete(bound.channel()))
            .doOnChannelInit((observer, channel, remote) -> count(channel));
    return server;
  }

  @Override
  public About.Inbound about() {
    return new About.Inbound(
        "netty",
        Version.identify().get("netty-transport").artifactVersion(),
        "spring-webflux",
        transport(),
        null,
        listener().config().getOption(ChannelOption.SO_BACKLOG),
        limit(server.configuration().maxKeepAliveRequests()),
        server.configuration().idleTimeout().toMillis(),
        Boolean.TRUE.equals(server.configuration().childOptions().get(ChannelOption.TCP_NODELAY)),
        handlers == null ? null : handlers.getClass().getName(),
        null,
        eventLoops(),
        "platform",
        ReactorClient.nettyInternals());
  }

  @Override
  public long openConnections() {
    return connections.sum();
  }

  @Override
  public boolean isEventLoop(Thread thread) {
    return thread instanceof NonBlocking;
  }

  private void count(Channel connection) {
    connections.increment();
    connection.closeFuture().addListener(closed -> connections.decrement());
  }

  /** reactor-netty says that it has bound the port before it calls {@code doOnBound}. */
  private Channel listener() {
    return listener.join();
  }

  private String transport() {
    return listener()
        .getClass()
        .getSimpleName()
        .replace("ServerSocketChannel", "")
        .toLowerCase(Locale.ROOT);
  }

  private int eventLoops() {
    HttpServerConfig configuration = server.configuration();
    int loops = 0;
    for (EventExecutor ignored :
        configuration.loopResources().onServer(configuration.isPreferNative())) {
      loops++;
    }
    return loops;
  }

  private static Integer limit(int value) {
    return value < 0 ? null : value;
  }
}
