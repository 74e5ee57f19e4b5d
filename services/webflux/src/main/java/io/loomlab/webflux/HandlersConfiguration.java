package io.loomlab.webflux;

import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;

/** virtual-netty: every handler runs on a virtual thread of its own and may block. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = LabApplication.CONCURRENCY, havingValue = "VIRTUAL_THREADS")
class HandlersConfiguration {
  @Bean
  HandlerThreads handlerThreads() {
    return new HandlerThreads();
  }

  @Bean
  WebFluxConfigurer blockingHandlers(HandlerThreads threads) {
    return new WebFluxConfigurer() {
      @Override
      public void configureBlockingExecution(BlockingExecutionConfigurer blocking) {
        blocking.setExecutor(threads).setControllerMethodPredicate(handler -> true);
      }
    };
  }
}
