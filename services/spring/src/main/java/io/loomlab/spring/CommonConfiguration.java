package io.loomlab.spring;

import io.loomlab.contract.LabRegistry;
import io.loomlab.contract.Settings;
import io.micrometer.core.instrument.Clock;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of every Spring approach. */
@Configuration(proxyBeanMethods = false)
@Import({AboutController.class, ProblemAdvice.class})
class CommonConfiguration {
  @Bean
  PrometheusMeterRegistry meterRegistry(Settings settings) {
    return LabRegistry.create(settings.approach().label());
  }

  /** Boot's Prometheus endpoint asks for one. */
  @Bean
  Clock clock() {
    return Clock.SYSTEM;
  }

  @Bean
  PrometheusRegistry prometheusRegistry(PrometheusMeterRegistry registry) {
    return registry.getPrometheusRegistry();
  }
}
