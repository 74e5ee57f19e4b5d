package io.loomlab.spring;

import io.loomlab.core.metrics.LabRegistry;
import io.loomlab.core.metrics.ManagementServer;
import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.core.settings.UsageException;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Starts an approach that runs on Spring Boot. */
public final class LabApplication {
  /**
   * Property that tells conditional configurations the concurrency model; of another name than the
   * variable LAB_CONCURRENCY, which Spring would take for it.
   */
  public static final String CONCURRENCY = "loomlab.model";

  /** Property that tells whether there is a database. */
  public static final String DATABASE = "loomlab.database";

  /** Profiles, one for each style. */
  public static final String LEAN = "lean";

  public static final String IDIOMATIC = "idiomatic";

  private LabApplication() {}

  /** An approach that serves. */
  public record Running(ConfigurableApplicationContext context, ManagementServer management)
      implements AutoCloseable {
    public int port() {
      return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    public int managementPort() {
      return management.port();
    }

    @Override
    public void close() {
      management.close();
      context.close();
    }
  }

  /**
   * For {@code main}: settings from the environment; exit code 2 if they are wrong, or ask for a
   * style or a concurrency that is not among those given.
   */
  public static void main(
      Class<?> application, Set<Style> styles, Concurrency first, Concurrency... others) {
    UsageException.exitOnUsageError(
        () -> {
          Settings settings = Settings.from(System.getenv());
          settings.among(styles).approach().among(first, others);
          run(application, settings);
        });
  }

  /**
   * Starts and returns once both ports serve.
   *
   * @throws IOException if the management port cannot be bound
   */
  public static Running run(Class<?> application, Settings settings) throws IOException {
    ConfigurableApplicationContext context = context(application, settings);
    PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
    LabRegistry.describe(registry, context.getBean(AboutController.class).told());
    return new Running(
        context, ManagementServer.start(settings.managementPort(), registry, context::isRunning));
  }

  private static ConfigurableApplicationContext context(Class<?> application, Settings settings) {
    return new SpringApplicationBuilder(application, CommonConfiguration.class)
        .bannerMode(Banner.Mode.OFF)
        .logStartupInfo(false)
        .profiles(settings.style() == Style.LEAN ? LEAN : IDIOMATIC)
        .properties(
            Map.of(
                CONCURRENCY,
                settings.approach().concurrency(),
                DATABASE,
                settings.database() != null,
                "spring.threads.virtual.enabled",
                settings.approach().concurrency() == Concurrency.VIRTUAL_THREADS,
                "server.port",
                settings.port()))
        .initializers(
            context ->
                ((GenericApplicationContext) context).registerBean(Settings.class, () -> settings))
        .run();
  }
}
