package io.loomlab.helidon;

import io.helidon.common.Version;
import io.helidon.common.socket.SocketOptions;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.loomlab.clients.BlockingClient;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Router;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.ManagementServer;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.UsageException;
import io.loomlab.core.work.BlockingEndpoints;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.FanOut;
import io.loomlab.core.work.LimitedEndpoints;
import io.loomlab.core.work.Movies;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Helidon SE: every connection, and so every request, on a virtual thread. */
public final class HelidonApplication implements AutoCloseable {
  /** Room for a body that is too long, so that its sender gets to read why. */
  private static final long LONGEST_BODY_BYTES = 8 << 20;

  /** How exactly idle connections are ended. */
  private static final Duration IDLE_CHECK = Duration.ofSeconds(1);

  /** {@code ServerListener.initServerThread} of Helidon 4.5: one platform thread, which accepts. */
  private static final int LISTENER = 1;

  /** Kept, lest its level be collected with it. */
  private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

  private final BlockingClient client;
  private final WebServer server;
  private final ManagementServer management;

  private HelidonApplication(Settings settings) throws IOException {
    HELIDON_LOG.setLevel(Level.WARNING);
    requireFree(settings.port());
    client = BlockingClient.of(settings);
    PrometheusMeterRegistry registry = LabRegistry.create(settings.approach().label());
    Connections connections = new Connections(http1());
    RequestMetrics requests = new RequestMetrics(registry, connections::open, thread -> false);
    CpuWork cpu = CpuWork.calibrated();
    Supplier<About> about = () -> About.of(settings, requests, cpu, inbound(), client.about());
    FanOut fanOut = FanOut.of(settings.approach().concurrency());
    Router<Answer> router =
        new Router<>(
            LimitedEndpoints.of(
                settings,
                new BlockingEndpoints(
                    client, new Movies(settings.saveMovies()), requests, cpu, fanOut)),
            about,
            Function.identity());
    server = server(settings, connections, router).start();
    if (!server.isRunning()) {
      throw new IOException("Helidon did not start");
    }
    LabRegistry.describe(registry, about.get());
    management = ManagementServer.start(settings.managementPort(), registry, server::isRunning);
  }

  public static void main(String[] args) {
    UsageException.exitOnUsageError(() -> start(Settings.from(System.getenv())));
  }

  /**
   * Starts serving; returns once both ports are bound.
   *
   * @throws IOException if a port cannot be bound
   * @throws UsageException if the approach's concurrency or style is another one
   */
  public static HelidonApplication start(Settings settings) throws IOException {
    settings
        .among(Set.of(Settings.Style.LEAN))
        .approach()
        .among(Approach.Concurrency.VIRTUAL_THREADS);
    return new HelidonApplication(settings);
  }

  public int port() {
    return server.port();
  }

  public int managementPort() {
    return management.port();
  }

  @Override
  public void close() {
    management.close();
    server.stop();
    client.close();
  }

  private About.Inbound inbound() {
    WebServerConfig effective = server.prototype();
    return new About.Inbound(
        "helidon",
        Version.VERSION,
        null,
        effective.useNio() ? "nio" : "socket",
        effective.maxTcpConnections(),
        effective.backlog(),
        null,
        effective.idleConnectionTimeout().toMillis(),
        effective.connectionOptions().tcpNoDelay(),
        null,
        null,
        LISTENER,
        "platform",
        Map.of("connection_threads", "one virtual thread each", "validation", "headers only"));
  }

  private static WebServer server(
      Settings settings, Connections connections, Router<Answer> router) {
    return WebServer.builder()
        .port(settings.port())
        .backlog(settings.backlog())
        .maxTcpConnections(settings.maxConnections())
        .idleConnectionTimeout(settings.keepAlive())
        .idleConnectionPeriod(IDLE_CHECK)
        .connectionOptions(SocketOptions.builder().tcpNoDelay(true).build())
        .maxPayloadSize(LONGEST_BODY_BYTES)
        .protocolsDiscoverServices(false)
        .featuresDiscoverServices(false)
        .addConnectionSelector(connections)
        .directHandlers(Answers.problems())
        .shutdownHook(false)
        .routing(HttpRouting.builder().any(Answers.by(router)))
        .build();
  }

  /**
   * No log of what is sent and received; what is in a path or a query is for the router to judge.
   */
  @SuppressWarnings("removal") // nothing replaces them yet
  private static Http1Config http1() {
    return Http1Config.builder()
        .sendKeepAliveHeader(false)
        .receiveLog(false)
        .sendLog(false)
        .validatePath(false)
        .validatePrologue(false)
        .validateRequestHostHeader(false)
        .build();
  }

  /** Of a port that is taken Helidon tells its log alone. */
  private static void requireFree(int port) throws IOException {
    new ServerSocket(port).close();
  }
}
