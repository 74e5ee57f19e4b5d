package io.loomlab.jetty;

import io.loomlab.core.settings.Approach;
import io.loomlab.core.settings.Settings;
import io.loomlab.mvc.ContentType;
import io.loomlab.mvc.MvcConfiguration;
import org.eclipse.jetty.ee11.servlet.ServletContextResponse;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration;
import org.springframework.boot.jetty.servlet.JettyServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Configuration(proxyBeanMethods = false)
@Import(MvcConfiguration.class)
@ImportAutoConfiguration(JettyServletWebServerAutoConfiguration.class)
class JettyConfiguration {
  @Bean
  LiveJetty liveJetty() {
    return new LiveJetty();
  }

  @Bean
  WebServerFactoryCustomizer<JettyServletWebServerFactory> jetty(
      Settings settings, LiveJetty live) {
    boolean virtual = settings.approach().concurrency() == Approach.Concurrency.VIRTUAL_THREADS;
    return factory -> {
      factory.setThreadPool(virtual ? ThreadPools.virtual() : new QueuedThreadPool());
      factory.setMaxConnections(settings.maxConnections());
      factory.addServerCustomizers(
          server -> {
            configure(server, settings);
            live.watch(server);
          });
    };
  }

  /** Past the servlet response, which would write the charset in lower case. */
  @Bean
  static ContentType contentType() {
    return (response, text) ->
        ServletContextResponse.getServletContextResponse(response)
            .getWrapped()
            .getHeaders()
            .put(HttpHeader.CONTENT_TYPE, text);
  }

  private static void configure(Server server, Settings settings) {
    ServerConnector connector = (ServerConnector) server.getConnectors()[0];
    connector.setAcceptQueueSize(settings.backlog());
    connector.setIdleTimeout(settings.keepAlive().toMillis());
    HttpConfiguration http =
        connector.getConnectionFactory(HttpConnectionFactory.class).getHttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(true);
    if (server.getThreadPool() instanceof QueuedThreadPool pool) {
      ThreadPools.fit(pool, server, settings.platformThreads());
    }
  }
}
