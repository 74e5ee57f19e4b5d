package io.loomlab.netty;

import io.loomlab.clients.ReactorClient;
import io.loomlab.contract.About;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.contract.Settings;
import io.loomlab.spring.LabApplication;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** webflux-netty: handlers run on the event loops and never wait there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "REACTIVE")
@Import({ReactiveController.class, Measured.class})
class ReactiveConfiguration {
  @Bean
  ReactorClient backendClient(Settings settings) {
    return new ReactorClient(settings);
  }

  @Bean
  Supplier<About> about(
      Settings settings, RequestMetrics requests, LiveNetty live, ReactorClient client) {
    return () -> About.of(settings, requests, live.about(), client.about());
  }
}
