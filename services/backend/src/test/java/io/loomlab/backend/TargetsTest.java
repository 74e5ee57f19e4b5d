package io.loomlab.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TargetsTest {
  private final Map<String, String> containers = new LinkedHashMap<>();
  private final Targets targets =
      new Targets(
          "approach",
          "loom-lab",
          new Targets.NameServer() {
            @Override
            public List<InetAddress> addresses(String name) throws UnknownHostException {
              if (containers.isEmpty() || !name.equals("approach")) {
                throw new UnknownHostException(name);
              }
              return containers.keySet().stream().map(TargetsTest::address).toList();
            }

            @Override
            public String name(InetAddress address) {
              return containers.get(address.getHostAddress());
            }
          });

  @Test
  void nothingRuns() {
    assertThat(found()).isEqualTo("[]");
  }

  @Test
  void everyContainerOfTheAliasHasItsService() {
    containers.put("172.18.0.7", "loom-lab-webflux-netty-1.loom-lab_default");
    containers.put("172.18.0.5", "loom-lab-tomcat-virtual-1.loom-lab_default");
    assertThat(found())
        .isEqualTo(
            "[{\"targets\":[\"172.18.0.5:8081\"],\"labels\":{\"service\":\"tomcat-virtual\"}},"
                + "{\"targets\":[\"172.18.0.7:8081\"],\"labels\":{\"service\":\"webflux-netty\"}}]");
  }

  @Test
  void aContainerWhoseNameIsGoneIsLeftOut() {
    containers.put("172.18.0.5", "172.18.0.5");
    assertThat(found()).isEqualTo("[]");
  }

  @Test
  void oneThatHasStoppedIsNoTargetAnyMore() {
    containers.put("172.18.0.5", "loom-lab-tomcat-virtual-1.loom-lab_default");
    assertThat(found()).contains("tomcat-virtual");
    containers.clear();
    assertThat(found()).isEqualTo("[]");
  }

  private String found() {
    targets.lookUp();
    return new String(targets.answer("GET", null).body(), StandardCharsets.UTF_8);
  }

  private static InetAddress address(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}
