package io.loomlab.webflux;

import io.loomlab.core.settings.Approach.Concurrency;
import io.loomlab.core.settings.Settings.Style;
import io.loomlab.spring.LabApplication;
import io.loomlab.webflux.idiomatic.IdiomaticWebfluxConfiguration;
import java.util.EnumSet;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches webflux-netty and virtual-netty. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import({
  WebfluxConfiguration.class,
  LeanWebfluxConfiguration.class,
  IdiomaticWebfluxConfiguration.class
})
public class WebfluxApplication {
  public static void main(String[] args) {
    LabApplication.main(
        WebfluxApplication.class,
        EnumSet.allOf(Style.class),
        Concurrency.REACTIVE,
        Concurrency.VIRTUAL_THREADS);
  }
}
