package io.loomlab.webflux;

import io.loomlab.core.Approach.Concurrency;
import io.loomlab.core.Settings.Style;
import io.loomlab.spring.LabApplication;
import io.loomlab.webflux.idiomatic.IdiomaticConfiguration;
import java.util.EnumSet;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches webflux-netty and virtual-netty. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({
  WebfluxConfiguration.class,
  HandlersConfiguration.class,
  ReactiveConfiguration.class,
  VirtualConfiguration.class,
  IdiomaticConfiguration.class
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
