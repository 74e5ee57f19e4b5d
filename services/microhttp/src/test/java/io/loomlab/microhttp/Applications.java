package io.loomlab.microhttp;

import io.loomlab.contract.tests.Running;
import io.loomlab.core.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;

final class Applications {
  private Applications() {}

  static Running start(Settings settings) {
    try {
      MicrohttpApplication application = MicrohttpApplication.start(settings);
      return new Running(application.port(), application.managementPort(), () -> stop(application));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void stop(MicrohttpApplication application) {
    try {
      application.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
