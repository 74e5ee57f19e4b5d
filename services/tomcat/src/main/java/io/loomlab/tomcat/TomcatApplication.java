package io.loomlab.tomcat;

import io.loomlab.contract.Approach;
import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The approaches tomcat-platform and tomcat-virtual. */
@SpringBootApplication(proxyBeanMethods = false)
public class TomcatApplication {
  public static void main(String[] args) {
    LabApplication.main(Approach.Server.TOMCAT, TomcatApplication.class);
  }
}
