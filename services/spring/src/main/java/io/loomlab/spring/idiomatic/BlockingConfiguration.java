package io.loomlab.spring.idiomatic;

import io.loomlab.core.FanOut;
import io.loomlab.core.Settings;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of the approaches whose handlers block. */
@Configuration(proxyBeanMethods = false)
@Import({BackendController.class, WaitController.class, DelayConverter.class})
public class BlockingConfiguration {
  @Bean
  FanOut fanOut(Settings settings) {
    return FanOut.of(settings.approach().concurrency());
  }
}
