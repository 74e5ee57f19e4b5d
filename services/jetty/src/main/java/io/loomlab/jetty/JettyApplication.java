package io.loomlab.jetty;

import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.spring.LabApplication;
import java.util.Set;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches jetty-platform and jetty-virtual. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(JettyConfiguration.class)
public class JettyApplication {
  public static void main(String[] args) {
    LabApplication.main(
        JettyApplication.class,
        Set.of(Style.LEAN),
        Concurrency.PLATFORM_THREADS,
        Concurrency.VIRTUAL_THREADS);
  }
}
