package io.loomlab.contract;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/**
 * The effective configuration: what the running objects say, not what was asked for. A value that a
 * server does not have is null.
 *
 * @param threadKinds per endpoint path, the kind of thread that served its first request: {@code
 *     platform}, {@code virtual} or {@code event-loop}; null before that
 */
public record About(
    String approach,
    String concurrency,
    Jvm jvm,
    Inbound inbound,
    Outbound outbound,
    Map<String, String> threadKinds) {

  /** The same record for every approach, from what its module reads off its server and client. */
  public static About of(
      Settings settings, RequestMetrics requests, Inbound inbound, Outbound outbound) {
    return new About(
        settings.approach().label(),
        Names.kebab(settings.approach().concurrency()),
        Jvm.running(),
        inbound,
        outbound,
        requests.threadKinds());
  }

  public byte[] bytes() {
    return Json.bytes(this);
  }

  /**
   * @param carriers carrier threads that virtual threads may use at a time
   */
  public record Jvm(
      String version,
      String vendor,
      List<String> gcBeans,
      long maxHeapBytes,
      int availableProcessors,
      int carriers) {
    static Jvm running() {
      int processors = Runtime.getRuntime().availableProcessors();
      return new Jvm(
          Runtime.version().toString(),
          System.getProperty("java.vendor"),
          ManagementFactory.getGarbageCollectorMXBeans().stream()
              .map(GarbageCollectorMXBean::getName)
              .toList(),
          Runtime.getRuntime().maxMemory(),
          processors,
          Integer.getInteger("jdk.virtualThreadScheduler.parallelism", processors));
    }
  }

  /**
   * The server.
   *
   * @param transport what waits for sockets: {@code nio}, {@code epoll}, …
   * @param maxRequestsPerConnection null without a limit
   * @param executor class that runs the handlers, null where the event loops do
   * @param eventLoops threads that serve sockets and handlers alike, null without
   */
  public record Inbound(
      String server,
      String version,
      String transport,
      Integer maxConnections,
      int backlog,
      Integer maxRequestsPerConnection,
      long keepAliveMs,
      boolean tcpNoDelay,
      String executor,
      Integer maxThreads,
      Integer eventLoops) {}

  /**
   * The backend client.
   *
   * @param maxPending most requests waiting for a connection, null without a limit
   */
  public record Outbound(
      String client,
      String version,
      int maxConnections,
      int maxConnectionsPerRoute,
      Integer maxPending,
      long connectTimeoutMs,
      long responseTimeoutMs,
      long poolTimeoutMs,
      long keepAliveMs,
      boolean tcpNoDelay) {}
}
