package io.loomlab.core.settings;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.loomlab.core.http.Json;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.CpuWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The effective configuration: what the running objects say, not what was asked for. A value that a
 * server does not have is null.
 *
 * @param limit most requests that are served at once, null without one; a pool of threads is in
 *     {@code inbound}
 * @param cpuIterationsPerMicrosecond what this process does for {@code cpuMicros=1}
 * @param database null without one
 * @param threadKinds per endpoint path, the kind of thread that served its first request: {@code
 *     platform}, {@code virtual} or {@code event-loop}; null before that
 */
public record About(
    String approach,
    String concurrency,
    String style,
    Integer limit,
    Jvm jvm,
    int cpuIterationsPerMicrosecond,
    Inbound inbound,
    Outbound outbound,
    Database database,
    Map<String, String> threadKinds) {

  /** The same record for every approach, from what its module reads off its server and client. */
  public static About of(
      Settings settings, RequestMetrics requests, CpuWork cpu, Inbound inbound, Outbound outbound) {
    return of(settings, requests, cpu, inbound, outbound, null);
  }

  /** The same with what is read off the client of a database; null without one. */
  public static About of(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      Inbound inbound,
      Outbound outbound,
      Database database) {
    return new About(
        settings.approach().label(),
        Names.kebab(settings.approach().concurrency()),
        Names.kebab(settings.style()),
        settings.bounds() ? settings.limit() : null,
        Jvm.running(),
        cpu.iterationsPerMicrosecond(),
        inbound,
        outbound,
        database,
        requests.threadKinds());
  }

  public byte[] bytes() {
    return Json.bytes(this);
  }

  /**
   * @param carriers carrier threads that virtual threads may use at a time
   * @param classArchive whether it has its classes from the archive of the image
   * @param vmArguments what the JVM was started with, class and its arguments aside
   */
  public record Jvm(
      String version,
      String vendor,
      List<String> gcBeans,
      long maxHeapBytes,
      int availableProcessors,
      int carriers,
      boolean classArchive,
      List<String> vmArguments) {
    private static final String SCHEDULER = "jdk.management:type=VirtualThreadScheduler";

    static Jvm running() {
      return new Jvm(
          Runtime.version().toString(),
          System.getProperty("java.vendor"),
          ManagementFactory.getGarbageCollectorMXBeans().stream()
              .map(GarbageCollectorMXBean::getName)
              .toList(),
          Runtime.getRuntime().maxMemory(),
          Runtime.getRuntime().availableProcessors(),
          parallelism(),
          mapsClassArchive(),
          ManagementFactory.getRuntimeMXBean().getInputArguments());
    }

    /** The JVM goes on without an archive that it cannot map. */
    private static boolean mapsClassArchive() {
      String archive =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
              .getVMOption("SharedArchiveFile")
              .getValue();
      try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
        return !archive.isEmpty() && mappings.anyMatch(mapping -> mapping.endsWith(archive));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static int parallelism() {
      try {
        return (int)
            ManagementFactory.getPlatformMBeanServer()
                .getAttribute(new ObjectName(SCHEDULER), "Parallelism");
      } catch (JMException e) {
        // before JDK 24: nothing but the scheduler's own rule
        return Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
      }
    }
  }

  /**
   * The server.
   *
   * @param framework what turns its requests into calls of handlers, null without one
   * @param transport how sockets are used: {@code nio}, blocking {@code socket}, …
   * @param maxRequestsPerConnection null without a limit
   * @param executor class that runs the handlers, null where what reads a request does
   * @param socketThreads threads that all connections share: they accept and serve sockets, or only
   *     accept where each connection has a thread of its own
   * @param socketThreadKind of these threads: {@code platform} or {@code virtual}
   * @param internals what else this server does in a way of its own, by its own name
   */
  public record Inbound(
      String server,
      String version,
      String framework,
      String transport,
      Integer maxConnections,
      Integer backlog,
      Integer maxRequestsPerConnection,
      Long keepAliveMs,
      Boolean tcpNoDelay,
      String executor,
      Integer maxThreads,
      Integer socketThreads,
      String socketThreadKind,
      Map<String, Object> internals) {}

  /**
   * The backend client.
   *
   * @param tcpNoDelay null where the client does not tell
   * @param poolPolicy which idle connection is used next, and what guards the pool
   * @param eventLoops threads that serve its sockets, null where the caller does; those of
   *     reactor-netty are shared with a Netty server of the same process
   * @param internals what else this client does in a way of its own, by its own name
   */
  public record Outbound(
      String client,
      String version,
      Integer maxConnections,
      Integer maxConnectionsPerRoute,
      Long connectTimeoutMs,
      Long responseTimeoutMs,
      Long poolTimeoutMs,
      Long keepAliveMs,
      Boolean tcpNoDelay,
      String poolPolicy,
      Integer eventLoops,
      Map<String, Object> internals) {}

  /**
   * The database's client.
   *
   * @param client {@code jdbc} or {@code r2dbc}
   * @param driver with its version, as of the pool
   * @param isolation of every transaction
   * @param prepareThreshold the execution from which on a statement is prepared on the server
   * @param eventLoops threads that serve its sockets, null where the caller does
   * @param internals what else this client does in a way of its own, by its own name
   */
  public record Database(
      String client,
      String driver,
      String pool,
      int maxConnections,
      long connectTimeoutMs,
      long responseTimeoutMs,
      long poolTimeoutMs,
      String isolation,
      int prepareThreshold,
      Integer eventLoops,
      Map<String, Object> internals) {}
}
