package io.loomlab.webflux;

import io.loomlab.core.Approach.Concurrency;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches webflux-netty and virtual-netty. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({WebfluxConfiguration.class, ReactiveConfiguration.class, VirtualConfiguration.class})
public class WebfluxApplication {
  public static void main(String[] args) {
    LabApplication.main(
        WebfluxApplication.class, Concurrency.REACTIVE, Concurrency.VIRTUAL_THREADS);
  }
}
