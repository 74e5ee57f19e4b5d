package io.loomlab.spring;

import io.loomlab.clients.BlockingClient;
import io.loomlab.core.About;
import io.loomlab.core.Answer;
import io.loomlab.core.BlockingEndpoints;
import io.loomlab.core.CpuWork;
import io.loomlab.core.Endpoints;
import io.loomlab.core.FanOut;
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
  Endpoints<Answer> endpoints(
      Settings settings,
      BlockingClient client,
      Movies movies,
      RequestMetrics requests,
      CpuWork cpu) {
    FanOut fanOut = FanOut.of(settings.approach().concurrency());
    return new BlockingEndpoints(client, movies, requests, cpu, fanOut);
  }

  @Bean
  Supplier<About> about(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      LiveServer live,
      BlockingClient client) {
    return () -> About.of(settings, requests, cpu, live.about(), client.about());
  }
}
