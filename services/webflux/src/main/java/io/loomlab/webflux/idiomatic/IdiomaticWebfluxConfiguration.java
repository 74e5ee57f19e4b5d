package io.loomlab.webflux.idiomatic;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.settings.Settings;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.idiomatic.BackendCalls;
import io.loomlab.spring.idiomatic.DelayConverter;
import io.loomlab.spring.idiomatic.IdiomaticBlockingConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of the idiomatic style on Spring WebFlux. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.IDIOMATIC)
@EnableAutoConfiguration
@Import({
  WebBackend.class,
  ReactiveLongBodies.class,
  IdiomaticWebfluxConfiguration.Reactive.class,
  IdiomaticWebfluxConfiguration.Blocking.class
})
public class IdiomaticWebfluxConfiguration {
  @Bean
  ReactorClient reactorClient(Settings settings) {
    return new ReactorClient(settings);
  }

  /** webflux-netty. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "REACTIVE")
  @Import({ReactiveBackendController.class, ReactiveWaitController.class, DelayConverter.class})
  static class Reactive {}

  /** virtual-netty: the same client as webflux-netty's, so that they differ in the model alone. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "VIRTUAL_THREADS")
  @Import(IdiomaticBlockingConfiguration.class)
  static class Blocking {
    @Bean
    BackendCalls backend(WebBackend backend) {
      return new BlockingWebBackend(backend);
    }
  }
}
