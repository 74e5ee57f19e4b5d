package io.loomlab.microhttp;

import io.loomlab.clients.BlockingClient;
import io.loomlab.clients.Permits;
import io.loomlab.clients.ReactorClient;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.Router;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.ManagementServer;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.UsageException;
import io.loomlab.core.work.BlockingEndpoints;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.FanOut;
import io.loomlab.core.work.LimitedEndpoints;
import io.loomlab.core.work.Movies;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Supplier;
import org.microhttp.Handler;
import org.microhttp.LabServer;
import org.microhttp.Options;
import reactor.core.publisher.Mono;

/** microhttp under the concurrency model that LAB_CONCURRENCY names. */
public final class MicrohttpApplication implements AutoCloseable {
  /** Room for a body that is too long, so that its sender gets to read why. */
  private static final int LONGEST_REQUEST_BYTES = 8 << 20;

  private final Settings settings;
  private final LabServer server;
  private final RequestMetrics requests;
  private final CpuWork cpu = CpuWork.calibrated();
  private final ManagementServer management;
  private Runnable release = () -> {};
  private Supplier<About> about;

  private MicrohttpApplication(Settings settings) throws IOException {
    this.settings = settings;
    PrometheusMeterRegistry registry = LabRegistry.create(settings.approach().label());
    server = new LabServer(options(settings));
    requests = new RequestMetrics(registry, server::openConnections, LabServer::isEventLoop);
    Movies movies = new Movies(settings.saveMovies());
    server.start(
        settings.approach().concurrency() == Concurrency.COMPLETABLE_FUTURE
            ? async(movies)
            : blocking(movies));
    LabRegistry.describe(registry, about.get());
    management = ManagementServer.start(settings.managementPort(), registry, server::isServing);
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
  public static MicrohttpApplication start(Settings settings) throws IOException {
    settings
        .among(Set.of(Settings.Style.LEAN))
        .approach()
        .among(
            Concurrency.PLATFORM_THREADS,
            Concurrency.VIRTUAL_THREADS,
            Concurrency.COMPLETABLE_FUTURE);
    return new MicrohttpApplication(settings);
  }

  public int port() {
    return server.port();
  }

  public int managementPort() {
    return management.port();
  }

  @Override
  public void close() throws IOException {
    management.close();
    server.close();
    release.run();
  }

  private Handler blocking(Movies movies) {
    BlockingClient client = BlockingClient.of(settings);
    ExecutorService executor =
        settings.approach().concurrency() == Concurrency.VIRTUAL_THREADS
            ? Executors.newVirtualThreadPerTaskExecutor()
            : Executors.newFixedThreadPool(settings.platformThreads());
    release =
        () -> {
          executor.shutdownNow();
          client.close();
        };
    about = () -> about(Inbound.of(server, executor), client.about());
    FanOut fanOut = FanOut.of(settings.approach().concurrency());
    Router<Answer> router =
        new Router<>(
            LimitedEndpoints.of(
                settings, new BlockingEndpoints(client, movies, requests, cpu, fanOut)),
            about,
            Function.identity());
    return Handlers.blocking(router, executor);
  }

  private Handler async(Movies movies) {
    ReactorClient client = new ReactorClient(settings);
    release = client::close;
    about = () -> about(Inbound.of(server, null), client.about());
    Router<CompletableFuture<Answer>> router =
        new Router<>(
            limited(new AsyncEndpoints(client, movies, requests, cpu)),
            about,
            CompletableFuture::completedFuture);
    return Handlers.async(router);
  }

  private Endpoints<CompletableFuture<Answer>> limited(
      Endpoints<CompletableFuture<Answer>> endpoints) {
    if (!settings.bounds()) {
      return endpoints;
    }
    Permits permits = new Permits(settings.limit());
    return (endpoint, request) ->
        permits.with(() -> Mono.fromFuture(() -> endpoints.answer(endpoint, request))).toFuture();
  }

  private About about(About.Inbound inbound, About.Outbound outbound) {
    return About.of(settings, requests, cpu, inbound, outbound);
  }

  /** Event loops and buffers are the library's defaults. */
  private static Options options(Settings settings) {
    return Options.builder()
        .withPort(settings.port())
        .withAcceptLength(settings.backlog())
        .withRequestTimeout(settings.keepAlive())
        .withMaxRequestSize(LONGEST_REQUEST_BYTES)
        .build();
  }
}
