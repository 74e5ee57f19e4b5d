package io.loomlab.spring.idiomatic;

import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.Settings;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.LiveServer;
import io.micrometer.core.instrument.LongTaskTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/** The lab's metrics of requests, taken from the actuator's observations. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.IDIOMATIC)
public class ActuatorConfiguration {
  @Bean
  PrometheusMeterRegistry meterRegistry(Settings settings) {
    return LabRegistry.unbound(settings.approach().label());
  }

  @Bean
  MeterBinder jvmAndProcess() {
    return registry -> LabRegistry.binders().forEach(binder -> binder.bindTo(registry));
  }

  @Bean
  ObservedRequests observedRequests() {
    return new ObservedRequests();
  }

  @Bean
  RequestMetrics requestMetrics(MeterRegistry registry, LiveServer live) {
    return new RequestMetrics(
        registry, live::openConnections, live::isEventLoop, () -> underWay(registry));
  }

  private static long underWay(MeterRegistry registry) {
    return registry.find(ObservedRequests.ACTIVE).longTaskTimers().stream()
        .mapToLong(LongTaskTimer::activeTasks)
        .sum();
  }
}
