package io.loomlab.backend;

import io.loomlab.contract.Answer;
import io.loomlab.contract.ManagementServer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
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
    List<InetAddress> addresses(String name) throws UnknownHostException;

    /** The container's name, up to the network's; the address itself where there is none. */
    String name(InetAddress address);
  }

  static final NameServer DNS =
      new NameServer() {
        @Override
        public List<InetAddress> addresses(String name) throws UnknownHostException {
          return List.of(InetAddress.getAllByName(name));
        }

        @Override
        public String name(InetAddress address) {
          return address.getCanonicalHostName();
        }
      };

  private final String alias;
  private final String project;
  private final NameServer names;
  private volatile String found = "[]";

  /**
   * @param project the Compose project, with which the names of its containers begin
   */
  Targets(String alias, String project, NameServer names) {
    this.alias = alias;
    this.project = project;
    this.names = names;
  }

  /** Looks them up every second, for as long as the process runs. */
  void watch() {
    Thread.ofVirtual()
        .name("targets")
        .start(
            () -> {
              while (true) {
                lookUp();
                try {
                  Thread.sleep(EVERY);
                } catch (InterruptedException e) {
                  return;
                }
              }
            });
  }

  void lookUp() {
    found = "[" + running().collect(Collectors.joining(",")) + "]";
  }

  @Override
  public Answer answer(String method, String query) {
    return Answer.json(found);
  }

  private Stream<String> running() {
    try {
      return names.addresses(alias).stream().flatMap(this::target).sorted();
    } catch (UnknownHostException e) {
      return Stream.empty();
    }
  }

  /** Nothing for a container that is just going, whose name is not known any more. */
  private Stream<String> target(InetAddress address) {
    String name = names.name(address);
    if (!name.startsWith(project + "-")) {
      return Stream.empty();
    }
    String service =
        name.substring(project.length() + 1).replaceFirst("\\..*", "").replaceFirst("-\\d+$", "");
    return Stream.of(
        "{\"targets\":[\"%s:%d\"],\"labels\":{\"service\":\"%s\"}}"
            .formatted(address.getHostAddress(), PORT, service));
  }
}
