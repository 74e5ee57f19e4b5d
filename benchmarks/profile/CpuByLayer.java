import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Share of a JVM's Java CPU time by layer, from CPU-time samples (JEP 509: JDK 25, Linux).
 *
 * <p>{@code java CpuByLayer.java FOLDER FROM TO}: the folder of chunks that Flight Recorder wrote, of
 * a JVM that may have been killed; FROM and TO are epoch seconds. A sample counts for the first owner that a frame matches, from the top of the stack down; a stack without
 * one counts for the plumbing that it is made of.
 */
class CpuByLayer {
  private static final Map<String, List<String>> OWNERS = new LinkedHashMap<>();
  private static final Map<String, List<String>> PLUMBING = new LinkedHashMap<>();

  static {
    OWNERS.put(
        "socket and selector calls",
        List.of(
            "sun.nio.ch.SocketDispatcher",
            "sun.nio.ch.UnixDispatcher",
            "sun.nio.ch.EPoll",
            "sun.nio.ch.Net",
            "sun.nio.ch.IOUtil",
            "sun.nio.ch.NioSocketImpl",
            "sun.nio.ch.SocketChannelImpl",
            "sun.nio.ch.EventFD",
            "io.netty.channel.epoll.Native",
            "io.netty.channel.epoll.LinuxSocket",
            "io.netty.channel.unix"));
    OWNERS.put(
        "virtual-thread scheduling",
        List.of("java.lang.VirtualThread", "jdk.internal.vm.Continuation", "sun.nio.ch.Poller"));
    OWNERS.put(
        "HTTP client",
        List.of(
            "org.apache.hc.",
            "reactor.netty.http.client",
            "reactor.netty.resources",
            "io.netty.handler.codec.http.HttpClientCodec",
            "jdk.internal.net.http",
            "io.loomlab.clients"));
    OWNERS.put(
        "HTTP server",
        List.of(
            "org.apache.coyote",
            "org.apache.catalina",
            "org.apache.tomcat",
            "reactor.netty.http.server",
            "io.netty.handler.codec.http.HttpServerCodec",
            "org.eclipse.jetty",
            "org.microhttp",
            "io.helidon"));
    OWNERS.put("Spring", List.of("org.springframework"));
    OWNERS.put("metrics", List.of("io.micrometer", "io.loomlab.core.metrics.RequestMetrics"));
    OWNERS.put("endpoint", List.of("io.loomlab"));
    PLUMBING.put("Reactor", List.of("reactor.core", "reactor.util"));
    PLUMBING.put("Netty, either side", List.of("io.netty", "reactor.netty"));
    PLUMBING.put("thread pools and locks", List.of("java.util.concurrent"));
  }

  public static void main(String[] arguments) throws IOException {
    Map<String, Integer> layers = new TreeMap<>();
    Map<String, Integer> methods = new TreeMap<>();
    try (EventStream chunks = EventStream.openRepository(Path.of(arguments[0]))) {
      chunks.setStartTime(seconds(arguments[1]));
      chunks.setEndTime(seconds(arguments[2]));
      chunks.setReuse(false);
      chunks.onEvent(
          "jdk.CPUTimeSample",
          event -> {
            layers.merge(layerOf(event), 1, Integer::sum);
            methods.merge(topOf(event), 1, Integer::sum);
          });
      chunks.start();
    }
    int samples = layers.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf("%d samples%n", samples);
    print(layers, samples, Integer.MAX_VALUE);
    print(methods, samples, 25);
  }

  private static Instant seconds(String epochSeconds) {
    return Instant.ofEpochMilli((long) (1000 * Double.parseDouble(epochSeconds)));
  }

  private static String layerOf(RecordedEvent event) {
    if (event.getStackTrace() == null) {
      return "no Java stack";
    }
    List<String> methods =
        event.getStackTrace().getFrames().stream().map(CpuByLayer::nameOf).toList();
    return first(methods, OWNERS).or(() -> first(methods, PLUMBING)).orElse("other");
  }

  private static Optional<String> first(List<String> methods, Map<String, List<String>> layers) {
    for (String method : methods) {
      for (Map.Entry<String, List<String>> layer : layers.entrySet()) {
        if (layer.getValue().stream().anyMatch(method::startsWith)) {
          return Optional.of(layer.getKey());
        }
      }
    }
    return Optional.empty();
  }

  private static String topOf(RecordedEvent event) {
    return event.getStackTrace() == null || event.getStackTrace().getFrames().isEmpty()
        ? "no Java stack"
        : nameOf(event.getStackTrace().getFrames().getFirst());
  }

  private static String nameOf(RecordedFrame frame) {
    return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
  }

  private static void print(Map<String, Integer> counts, int samples, int most) {
    System.out.println();
    counts.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(most)
        .forEach(
            each ->
                System.out.printf(
                    "%5.1f %%  %s%n", 100.0 * each.getValue() / samples, each.getKey()));
  }
}
