package io.loomlab.tomcat;

import io.loomlab.contract.Approach;
import io.loomlab.contract.Settings;
import io.loomlab.contract.tests.Running;
import io.loomlab.spring.LabApplication;
import org.springframework.context.ApplicationContext;

final class Applications {
  private Applications() {}

  static Running start(Settings settings) {
    var context = LabApplication.run(Approach.Server.TOMCAT, TomcatApplication.class, settings);
    return new Running(
        port(context, "local.server.port"), port(context, "local.management.port"), context::close);
  }

  private static int port(ApplicationContext context, String property) {
    return context.getEnvironment().getRequiredProperty(property, Integer.class);
  }
}
