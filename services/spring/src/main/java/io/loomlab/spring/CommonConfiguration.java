package io.loomlab.spring;

import io.loomlab.core.CpuWork;
import io.loomlab.core.LabRegistry;
import io.loomlab.core.Movies;
import io.loomlab.core.RequestMetrics;
import io.loomlab.core.Settings;
import io.loomlab.spring.idiomatic.ActuatorConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
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
