package io.loomlab.netty;

import io.loomlab.contract.Answer;
import io.loomlab.contract.Endpoints;
import io.loomlab.contract.Movies;
import reactor.core.publisher.Mono;
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
@Import(ReactiveController.class)
class ReactiveConfiguration {
  @Bean
  ReactorClient backendClient(Settings settings) {
    return new ReactorClient(settings);
  }

  @Bean
  Endpoints<Mono<Answer>> endpoints(ReactorClient client, Movies movies, RequestMetrics requests) {
    return new ReactiveEndpoints(client, movies, requests);
  }

  @Bean
  Supplier<About> about(
      Settings settings, RequestMetrics requests, LiveNetty live, ReactorClient client) {
    return () -> About.of(settings, requests, live.about(), client.about());
  }
}
