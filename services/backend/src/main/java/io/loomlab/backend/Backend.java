package io.loomlab.backend;

import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.ManagementServer;
import io.loomlab.core.settings.UsageException;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.socket.ServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The running backend: traffic on one port, health, metrics and behaviour on another. */
public final class Backend implements AutoCloseable {
  private final List<EventLoop> loops;
  private final ServerSocketChannel listener;
  private final ManagementServer management;

  private Backend(
      List<EventLoop> loops, ServerSocketChannel listener, ManagementServer management) {
    this.loops = loops;
    this.listener = listener;
    this.management = management;
  }

  public static void main(String[] args) {
    UsageException.exitOnUsageError(() -> start(BackendSettings.from(System.getenv())));
  }

  /**
   * Starts serving; returns once both ports are bound.
   *
   * @throws IOException if a port cannot be bound
   */
  public static Backend start(BackendSettings settings) throws IOException {
    Behaviour behaviour = new Behaviour(settings.delay(), settings.errorShare());
    List<EventLoop> loops = new ArrayList<>();
    for (int i = 0; i < settings.loops(); i++) {
      SplittableRandom random = new SplittableRandom(settings.seed() + i);
      SplittableRandom tokens = new SplittableRandom(settings.seed() + i).split();
      loops.add(new EventLoop(i, new LoopBehaviour(behaviour, random, tokens), new CpuWait()));
    }
    PrometheusMeterRegistry registry = LabRegistry.create("backend");
    BackendMetrics.bind(registry, behaviour, loops);
    loops.forEach(EventLoop::start);
    ServerSocketChannel listener = EventLoop.newListener();
    listener.config().setBacklog(settings.backlog());
    listener.pipeline().addLast(new Acceptor(loops, settings.maxConnections()));
    loops.getFirst().listen(listener);
    listener.bind(new InetSocketAddress(settings.port())).syncUninterruptibly();
    ManagementServer management =
        ManagementServer.start(
            settings.managementPort(), registry, () -> loops.stream().allMatch(EventLoop::isAlive));
    management.serve(
        BehaviourEndpoint.PATH,
        new BehaviourEndpoint(behaviour, () -> loops.forEach(EventLoop::wakeUp)));
    return new Backend(loops, listener, management);
  }

  public int port() {
    return listener.localAddress().getPort();
  }

  public int managementPort() {
    return management.port();
  }

  @Override
  public void close() throws IOException {
    management.close();
    listener.close().syncUninterruptibly();
    loops.forEach(EventLoop::stop);
  }
}
