package io.loomlab.netty;

import io.loomlab.contract.Approach;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The approach webflux-netty. */
@SpringBootApplication(proxyBeanMethods = false)
public class NettyApplication {
  public static void main(String[] args) {
    LabApplication.main(Approach.Server.NETTY, NettyApplication.class);
  }
}
