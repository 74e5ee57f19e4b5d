package io.loomlab.netty;

import io.loomlab.contract.Approach.Concurrency;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The approaches webflux-netty and virtual-netty. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({NettyConfiguration.class, ReactiveConfiguration.class, VirtualConfiguration.class})
public class NettyApplication {
  public static void main(String[] args) {
    LabApplication.main(NettyApplication.class, Concurrency.REACTIVE, Concurrency.VIRTUAL_THREADS);
  }
}
