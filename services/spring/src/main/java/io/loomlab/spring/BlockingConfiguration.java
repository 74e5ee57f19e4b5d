package io.loomlab.spring;

import io.loomlab.clients.BlockingClient;
import io.loomlab.core.About;
import io.loomlab.core.Answer;
import io.loomlab.core.BlockingEndpoints;
import io.loomlab.core.Endpoints;
import io.loomlab.core.Movies;
import io.loomlab.core.RequestMetrics;
import io.loomlab.core.Settings;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of the approaches whose handlers block. */
@Configuration(proxyBeanMethods = false)
@Import(BlockingController.class)
public class BlockingConfiguration {
  /**
   * @param own what the approach uses unless another client is asked for
   */
  @Bean
  BlockingClient backendClient(Settings settings, Optional<Settings.Client> own) {
    return BlockingClient.of(settings, own.orElse(Settings.Client.APACHE));
  }

  @Bean
  Endpoints<Answer> endpoints(BlockingClient client, Movies movies, RequestMetrics requests) {
    return new BlockingEndpoints(client, movies, requests);
  }

  @Bean
  Supplier<About> about(
      Settings settings, RequestMetrics requests, LiveServer live, BlockingClient client) {
    return () -> About.of(settings, requests, live.about(), client.about());
  }
}
