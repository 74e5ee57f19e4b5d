package io.loomlab.webflux.idiomatic;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.About;
import io.loomlab.core.CpuWork;
import io.loomlab.core.RequestMetrics;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.LiveServer;
import io.loomlab.spring.idiomatic.Backend;
import io.loomlab.spring.idiomatic.BlockingConfiguration;
import io.loomlab.spring.idiomatic.DelayConverter;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of the idiomatic style on Spring WebFlux. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.IDIOMATIC)
@Import({
  WebBackend.class,
  LongBodies.class,
  IdiomaticConfiguration.Reactive.class,
  IdiomaticConfiguration.Blocking.class
})
public class IdiomaticConfiguration {
  @Bean
  ReactorClient reactorClient(Settings settings) {
    return new ReactorClient(settings);
  }

  @Bean
  Supplier<About> about(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      LiveServer live,
      ReactorClient client) {
    return () -> About.of(settings, requests, cpu, live.about(), client.about());
  }

  /** webflux-netty. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "REACTIVE")
  @Import({BackendController.class, WaitController.class, DelayConverter.class})
  static class Reactive {}

  /** virtual-netty: the same client as webflux-netty's, so that they differ in the model alone. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "VIRTUAL_THREADS")
  @Import(BlockingConfiguration.class)
  static class Blocking {
    @Bean
    Backend backend(WebBackend backend) {
      return new BlockingBackend(backend);
    }
  }
}
