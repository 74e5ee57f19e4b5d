package io.loomlab.webflux;

import io.loomlab.clients.Permits;
import io.loomlab.clients.R2dbcOrders;
import io.loomlab.clients.ReactorClient;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.metrics.DatabaseMetrics;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.Movies;
import io.loomlab.spring.LabApplication;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Optional;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import reactor.core.publisher.Mono;

/** webflux-netty, lean: handlers run on the event loops and never wait there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "REACTIVE")
@Import({ReactiveController.class, ReactiveOrdersController.class})
class ReactiveConfiguration {
  @Bean
  ReactorClient backendClient(Settings settings) {
    return new ReactorClient(settings);
  }

  @Bean
  @ConditionalOnBooleanProperty(LabApplication.DATABASE)
  R2dbcOrders database(Settings settings, MeterRegistry registry) {
    return new R2dbcOrders(settings, new DatabaseMetrics(registry));
  }

  @Bean
  Endpoints<Mono<Answer>> endpoints(
      Settings settings,
      ReactorClient client,
      Movies movies,
      RequestMetrics requests,
      CpuWork cpu,
      Optional<R2dbcOrders> database) {
    Endpoints<Mono<Answer>> endpoints =
        new ReactiveEndpoints(client, movies, requests, cpu, database.orElse(null));
    if (!settings.bounds()) {
      return endpoints;
    }
    Permits permits = new Permits(settings.limit());
    return (endpoint, request) -> permits.with(() -> endpoints.answer(endpoint, request));
  }
}
