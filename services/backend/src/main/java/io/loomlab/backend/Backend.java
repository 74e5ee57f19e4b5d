package io.loomlab.backend;

import io.loomlab.core.LabRegistry;
import io.loomlab.core.ManagementServer;
import io.loomlab.core.UsageException;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.security.Security;
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
    // Nothing logs here; SLF4J, which a library brings, would announce that at every start.
    System.setProperty("slf4j.internal.verbosity", "ERROR");
    // Who runs changes from one second to the next; java.security's default keeps names for 30 s.
    Security.setProperty("networkaddress.cache.ttl", "0");
    Security.setProperty("networkaddress.cache.negative.ttl", "0");
    UsageException.exitOnUsageError(() -> start(BackendSettings.from(System.getenv())));
  }

  /**
   * Starts serving; returns once both ports are bound.
   *
   * @throws IOException if a port cannot be bound
   */
  public static Backend start(BackendSettings settings) throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open();
    listener.configureBlocking(false);
    listener.bind(new InetSocketAddress(settings.port()), settings.backlog());
    Behaviour behaviour = new Behaviour(settings.delay(), settings.errorShare());
    List<EventLoop> loops = new ArrayList<>();
    for (int i = 0; i < settings.loops(); i++) {
      SplittableRandom random = new SplittableRandom(settings.seed() + i);
      SplittableRandom tokens = new SplittableRandom(settings.seed() + i).split();
      loops.add(new EventLoop(i, new LoopBehaviour(behaviour, random, tokens), new CpuWait()));
    }
    loops.getFirst().listen(listener, new Acceptor(listener, loops, settings.maxConnections()));
    PrometheusMeterRegistry registry = LabRegistry.create("backend");
    BackendMetrics.bind(registry, behaviour, loops);
    loops.forEach(EventLoop::start);
    ManagementServer management =
        ManagementServer.start(
            settings.managementPort(), registry, () -> loops.stream().allMatch(EventLoop::isAlive));
    management.serve(
        BehaviourEndpoint.PATH,
        new BehaviourEndpoint(behaviour, () -> loops.forEach(EventLoop::wakeUp)));
    if (!settings.project().isEmpty()) {
      Targets targets = new Targets("approach", settings.project(), Targets.DNS);
      management.serve(Targets.PATH, targets);
      targets.watch();
    }
    return new Backend(loops, listener, management);
  }

  public int port() {
    return listener.socket().getLocalPort();
  }

  public int managementPort() {
    return management.port();
  }

  @Override
  public void close() throws IOException {
    management.close();
    listener.close();
    loops.forEach(EventLoop::stop);
  }
}
