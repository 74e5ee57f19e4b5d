package io.loomlab.spring.idiomatic;

import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.FanOut;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of the approaches whose handlers block. */
@Configuration(proxyBeanMethods = false)
@Import({BackendController.class, WaitController.class, DelayConverter.class})
public class IdiomaticBlockingConfiguration {
  @Bean
  FanOut fanOut(Settings settings) {
    return FanOut.of(settings.approach().concurrency());
  }
}
