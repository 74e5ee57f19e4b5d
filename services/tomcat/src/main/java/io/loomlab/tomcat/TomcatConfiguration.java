package io.loomlab.tomcat;

import io.loomlab.core.settings.Settings;
import io.loomlab.mvc.MvcConfiguration;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Configuration(proxyBeanMethods = false)
@Import(MvcConfiguration.class)
@ImportAutoConfiguration(TomcatServletWebServerAutoConfiguration.class)
class TomcatConfiguration {
  /** By default no more than 200 idle processors are kept; others are built again, under a lock. */
  private static final int UNLIMITED = -1;

  @Bean
  LiveTomcat liveTomcat() {
    return new LiveTomcat();
  }

  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> tomcat(
      Settings settings, LiveTomcat live) {
    return factory ->
        factory.addConnectorCustomizers(
            connector -> {
              var protocol = (AbstractHttp11Protocol<?>) connector.getProtocolHandler();
              configure(protocol, settings);
              live.watch(protocol);
            });
  }

  private static void configure(AbstractHttp11Protocol<?> protocol, Settings settings) {
    int keepAliveMillis = (int) settings.keepAlive().toMillis();
    protocol.setMaxConnections(settings.maxConnections());
    protocol.setAcceptCount(settings.backlog());
    protocol.setMaxKeepAliveRequests(-1);
    protocol.setKeepAliveTimeout(keepAliveMillis);
    protocol.setConnectionTimeout(keepAliveMillis);
    protocol.setUseKeepAliveResponseHeader(false);
    protocol.setProcessorCache(UNLIMITED);
    protocol.setMaxThreads(settings.platformThreads());
  }
}
