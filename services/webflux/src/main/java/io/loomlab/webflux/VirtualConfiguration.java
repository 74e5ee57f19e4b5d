package io.loomlab.webflux;

import io.loomlab.core.settings.Settings;
import io.loomlab.spring.BlockingConfiguration;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** virtual-netty, lean. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "VIRTUAL_THREADS")
@Import({
  BlockingConfiguration.class,
  BlockingSaveMoviesController.class,
  BlockingPlaceOrderController.class
})
@ImportAutoConfiguration(TaskExecutionAutoConfiguration.class)
class VirtualConfiguration {
  /** That of webflux-netty, so that the two differ in the model alone. */
  @Bean
  Settings.Client ownClient() {
    return Settings.Client.REACTOR;
  }
}
