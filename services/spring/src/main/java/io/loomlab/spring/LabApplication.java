package io.loomlab.spring;

import io.loomlab.contract.Approach;
import io.loomlab.contract.Settings;
import io.loomlab.contract.UsageException;
import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Starts an approach that runs on Spring Boot. */
public final class LabApplication {
  private LabApplication() {}

  /** For {@code main}: settings from the environment; exit code 2 if they are wrong. */
  public static void main(Approach.Server server, Class<?> application) {
    UsageException.exitOnUsageError(() -> run(server, application, Settings.from(System.getenv())));
  }

  /**
   * Starts and returns once both ports serve.
   *
   * @throws UsageException if the settings' approach is another server's
   */
  public static ConfigurableApplicationContext run(
      Approach.Server server, Class<?> application, Settings settings) {
    settings.approach().on(server);
    return new SpringApplicationBuilder(application, CommonConfiguration.class)
        .bannerMode(Banner.Mode.OFF)
        .logStartupInfo(false)
        .properties(
            Map.of(
                "server.port", settings.port(),
                "management.server.port", settings.managementPort()))
        .initializers(
            context ->
                ((GenericApplicationContext) context).registerBean(Settings.class, () -> settings))
        .run();
  }
}
