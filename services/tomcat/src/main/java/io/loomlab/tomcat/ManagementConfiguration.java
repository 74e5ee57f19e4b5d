package io.loomlab.tomcat;

import org.apache.coyote.AbstractProtocol;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;

/** The management port has two platform threads of its own, whatever serves the traffic. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ManagementConfiguration {
  private static final int THREADS = 2;

  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> managementThreads() {
    return factory ->
        factory.addConnectorCustomizers(
            connector -> {
              var protocol = (AbstractProtocol<?>) connector.getProtocolHandler();
              protocol.setMinSpareThreads(THREADS);
              protocol.setMaxThreads(THREADS);
            });
  }
}
