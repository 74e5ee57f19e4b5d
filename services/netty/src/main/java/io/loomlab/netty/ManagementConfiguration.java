package io.loomlab.netty;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import reactor.netty.resources.LoopResources;

/** The management port has an event loop of its own: a probe does not queue behind the traffic. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ManagementConfiguration {
  @Bean(destroyMethod = "dispose")
  LoopResources managementLoop() {
    return LoopResources.create("management", 1, true);
  }

  @Bean
  WebServerFactoryCustomizer<NettyReactiveWebServerFactory> managementServer(LoopResources loop) {
    return factory -> factory.addServerCustomizers(server -> server.runOn(loop));
  }
}
