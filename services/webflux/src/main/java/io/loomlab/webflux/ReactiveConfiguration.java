package io.loomlab.webflux;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.About;
import io.loomlab.core.Answer;
import io.loomlab.core.CpuWork;
import io.loomlab.core.Endpoints;
import io.loomlab.core.Movies;
import io.loomlab.core.RequestMetrics;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import reactor.core.publisher.Mono;

/** webflux-netty, lean: handlers run on the event loops and never wait there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "REACTIVE")
@Profile(LabApplication.LEAN)
@Import({AnswerResultHandler.class, ReactiveController.class})
class ReactiveConfiguration {
  @Bean
  ReactorClient backendClient(Settings settings) {
    return new ReactorClient(settings);
  }

  @Bean
  Endpoints<Mono<Answer>> endpoints(
      ReactorClient client, Movies movies, RequestMetrics requests, CpuWork cpu) {
    return new ReactiveEndpoints(client, movies, requests, cpu);
  }

  @Bean
  Supplier<About> about(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      LiveNetty live,
      ReactorClient client) {
    return () -> About.of(settings, requests, cpu, live.about(), client.about());
  }
}
