package io.loomlab.backend;

import io.loomlab.core.Answer;
import io.loomlab.core.ManagementServer;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The approaches that run, as Prometheus' http_sd reads them: those of one network alias, each with
 * its Compose service as a label. Looked up anew every second, on a thread of its own, because a
 * name server may be slow.
 */
final class Targets implements ManagementServer.Handler {
  static final String PATH = "/targets";

  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final int PORT = 8081;

  /** Names and addresses, as the network's name server tells them. */
  interface NameServer {
    /** Those of version 4, which every container of the lab has. */
    List<InetAddress> addresses(String name) throws UnknownHostException;

    /** The container's name, up to the network's; the address itself where there is none. */
    String name(InetAddress address);
  }

  static final NameServer DNS =
      new NameServer() {
        @Override
        public List<InetAddress> addresses(String name) throws UnknownHostException {
          return Stream.of(InetAddress.getAllByName(name))
              .filter(Inet4Address.class::isInstance)
              .toList();
        }

        @Override
        public String name(InetAddress address) {
          return address.getCanonicalHostName();
        }
      };

  private final String alias;
  private final Pattern container;
  private final NameServer names;
  private final Map<InetAddress, String> services = new HashMap<>();
  private volatile String found;

  /**
   * @param alias that of the approaches and of the backend: a name that nobody has would be asked
   *     of the host's own name server
   * @param project the Compose project, which names its containers {@code project-service-number},
   *     and adds the network's name
   */
  Targets(String alias, String project, NameServer names) {
    this.alias = alias;
    container =
        Pattern.compile(Pattern.quote(project) + "[-_](?<service>[a-z][a-z0-9-]*)[-_]\\d+(\\..*)?");
    this.names = names;
  }

  /** Looks them up every second, for as long as the process runs. */
  void watch() {
    Thread.ofPlatform().name("targets").daemon().start(this::lookUpEverySecond);
  }

  private void lookUpEverySecond() {
    while (true) {
      try {
        lookUp();
        Thread.sleep(EVERY);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Where the name server does not answer, those found before stay. */
  void lookUp() {
    try {
      List<InetAddress> addresses = names.addresses(alias);
      services.keySet().retainAll(addresses);
      addresses.forEach(this::learnService);
    } catch (UnknownHostException e) {
      return;
    }
    found =
        services.entrySet().stream()
            .filter(each -> !each.getValue().equals("backend"))
            .map(each -> target(each.getKey(), each.getValue()))
            .sorted()
            .collect(Collectors.joining(",", "[", "]"));
  }

  @Override
  public Answer answer(String method, String query) {
    String targets = found;
    return targets == null ? Answer.problem(502) : Answer.json(targets);
  }

  /** Of an address whose name does not come, the last one holds; without one it is left out. */
  private void learnService(InetAddress address) {
    Matcher name = container.matcher(names.name(address));
    if (name.matches()) {
      services.put(address, name.group("service"));
    }
  }

  private static String target(InetAddress address, String service) {
    return "{\"targets\":[\"%s:%d\"],\"labels\":{\"service\":\"%s\"}}"
        .formatted(address.getHostAddress(), PORT, service);
  }
}
