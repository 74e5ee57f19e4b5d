package io.loomlab.tomcat;

import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.spring.LabApplication;
import java.util.EnumSet;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches tomcat-platform and tomcat-virtual. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(TomcatConfiguration.class)
public class TomcatApplication {
  public static void main(String[] args) {
    LabApplication.main(
        TomcatApplication.class,
        EnumSet.allOf(Style.class),
        Concurrency.PLATFORM_THREADS,
        Concurrency.VIRTUAL_THREADS);
  }
}
