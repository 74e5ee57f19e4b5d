package io.loomlab.spring;

import io.loomlab.clients.BlockingClient;
import io.loomlab.contract.About;
import io.loomlab.contract.Answer;
import io.loomlab.contract.BlockingEndpoints;
import io.loomlab.contract.Endpoints;
import io.loomlab.contract.Movies;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.contract.Settings;
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
