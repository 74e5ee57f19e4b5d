package io.loomlab.spring;

import io.loomlab.clients.BlockingClient;
import io.loomlab.clients.JdbcOrders;
import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.metrics.DatabaseMetrics;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.work.BlockingEndpoints;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.FanOut;
import io.loomlab.core.work.LimitedEndpoints;
import io.loomlab.core.work.Movies;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Optional;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of the approaches whose handlers block. */
@Configuration(proxyBeanMethods = false)
@Import({BlockingController.class, BlockingOrdersController.class})
public class BlockingConfiguration {
  /**
   * @param own what the approach uses unless another client is asked for
   */
  @Bean
  BlockingClient backendClient(Settings settings, Optional<Settings.Client> own) {
    return BlockingClient.of(settings, own.orElse(Settings.Client.APACHE));
  }

  @Bean
  @ConditionalOnBooleanProperty(LabApplication.DATABASE)
  JdbcOrders database(Settings settings, MeterRegistry registry) {
    return new JdbcOrders(settings, new DatabaseMetrics(registry));
  }

  @Bean
  Endpoints<Answer> endpoints(
      Settings settings,
      BlockingClient client,
      Movies movies,
      RequestMetrics requests,
      CpuWork cpu,
      Optional<JdbcOrders> database) {
    FanOut fanOut = FanOut.of(settings.approach().concurrency());
    return LimitedEndpoints.of(
        settings,
        new BlockingEndpoints(client, movies, requests, cpu, fanOut, database.orElse(null)));
  }
}
