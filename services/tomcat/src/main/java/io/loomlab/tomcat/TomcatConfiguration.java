package io.loomlab.tomcat;

import io.loomlab.contract.About;
import io.loomlab.contract.Approach;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.contract.Settings;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.tomcat.util.threads.VirtualThreadExecutor;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.RequestContextFilter;

@Configuration(proxyBeanMethods = false)
class TomcatConfiguration {
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

  @Bean
  RequestMetrics requestMetrics(MeterRegistry registry, LiveTomcat live) {
    return new RequestMetrics(registry, live::openConnections, thread -> false);
  }

  @Bean
  Supplier<About> about(
      Settings settings, RequestMetrics requests, LiveTomcat live, BackendClient client) {
    return () -> About.of(settings, requests, live.about(), client.about());
  }

  /** Registered as disabled: the dispatcher servlet does the same, WebFlux has none. */
  @Bean
  FilterRegistrationBean<RequestContextFilter> noRequestContextFilter() {
    var registration = new FilterRegistrationBean<>(new RequestContextFilter());
    registration.setEnabled(false);
    return registration;
  }

  private static void configure(AbstractHttp11Protocol<?> protocol, Settings settings) {
    int keepAliveMillis = (int) settings.keepAlive().toMillis();
    protocol.setMaxConnections(settings.maxConnections());
    protocol.setAcceptCount(settings.backlog());
    protocol.setMaxKeepAliveRequests(-1);
    protocol.setKeepAliveTimeout(keepAliveMillis);
    protocol.setConnectionTimeout(keepAliveMillis);
    protocol.setUseKeepAliveResponseHeader(false);
    if (settings.approach().concurrency() == Approach.Concurrency.VIRTUAL_THREADS) {
      protocol.setExecutor(new VirtualThreadExecutor("tomcat-handler-"));
    } else {
      protocol.setMaxThreads(settings.platformThreads());
    }
  }
}
