package io.loomlab.spring;

import io.loomlab.clients.BackendClient;
import io.loomlab.clients.DatabaseClient;
import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.About;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.Movies;
import io.loomlab.spring.idiomatic.ActuatorConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of every Spring approach. */
@Configuration(proxyBeanMethods = false)
@Import({
  AboutController.class,
  WrongMethodController.class,
  ProblemAdvice.class,
  CommonConfiguration.LeanMetrics.class,
  ActuatorConfiguration.class
})
class CommonConfiguration {
  @Bean
  CpuWork cpuWork() {
    return CpuWork.calibrated();
  }

  @Bean
  Movies movies(Settings settings) {
    return new Movies(settings.saveMovies());
  }

  @Bean
  Supplier<About> about(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      LiveServer server,
      BackendClient client,
      Optional<DatabaseClient> database) {
    return () ->
        About.of(
            settings,
            requests,
            cpu,
            server.about(),
            client.about(),
            database.map(DatabaseClient::about).orElse(null));
  }

  @Configuration(proxyBeanMethods = false)
  @Profile(LabApplication.LEAN)
  static class LeanMetrics {
    @Bean
    PrometheusMeterRegistry meterRegistry(Settings settings) {
      return LabRegistry.create(settings.approach().label());
    }

    @Bean
    RequestMetrics requestMetrics(MeterRegistry registry, LiveServer live) {
      return new RequestMetrics(registry, live::openConnections, live::isEventLoop);
    }
  }
}
