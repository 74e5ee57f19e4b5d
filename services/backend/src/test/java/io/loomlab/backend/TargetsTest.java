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
  void nothingButTheBackendRuns() {
    containers.put("172.18.0.4", "loom-lab-backend-1.loom-lab_default");
    assertThat(found()).isEqualTo("[]");
  }

  @Test
  void everyContainerOfTheAliasHasItsService() {
    containers.put("172.18.0.7", "loom-lab-webflux-netty-1.loom-lab_default");
    containers.put("172.18.0.5", "loom-lab_tomcat-virtual_1");
    containers.put("172.18.0.4", "loom-lab-backend-1.loom-lab_default");
    assertThat(found())
        .isEqualTo(
            "[{\"targets\":[\"172.18.0.5:8081\"],\"labels\":{\"service\":\"tomcat-virtual\"}},"
                + "{\"targets\":[\"172.18.0.7:8081\"],\"labels\":{\"service\":\"webflux-netty\"}}]");
  }

  @Test
  void containersOfOtherProjectsAreLeftOut() {
    containers.put("172.18.0.5", "other-tomcat-virtual-1.other_default");
    containers.put("172.18.0.6", "172.18.0.6");
    assertThat(found()).isEqualTo("[]");
  }

  @Test
  void theServiceOfAnAddressWhoseNameDoesNotComeIsTheLastOne() {
    containers.put("172.18.0.5", "loom-lab-tomcat-virtual-1.loom-lab_default");
    String before = found();
    containers.put("172.18.0.5", "172.18.0.5");
    assertThat(found()).isEqualTo(before);
    containers.put("172.18.0.5", "loom-lab-jetty-virtual-1.loom-lab_default");
    assertThat(found()).contains("jetty-virtual");
  }

  @Test
  void oneThatHasStoppedIsNoTargetAnyMore() {
    containers.put("172.18.0.4", "loom-lab-backend-1.loom-lab_default");
    containers.put("172.18.0.5", "loom-lab-tomcat-virtual-1.loom-lab_default");
    assertThat(found()).contains("tomcat-virtual");
    containers.remove("172.18.0.5");
    assertThat(found()).isEqualTo("[]");
    containers.put("172.18.0.5", "172.18.0.5");
    assertThat(found()).isEqualTo("[]");
  }

  @Test
  void thoseFoundBeforeStayWhileTheNameServerDoesNotAnswer() {
    assertThat(targets.answer("GET", null).status()).isEqualTo(502);
    containers.put("172.18.0.5", "loom-lab-tomcat-virtual-1.loom-lab_default");
    String before = found();
    containers.clear();
    assertThat(found()).isEqualTo(before);
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
