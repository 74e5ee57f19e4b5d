package io.loomlab.core.settings;

import java.util.Locale;

/** Public spelling of enum constants. */
final class Names {
  private Names() {}

  static String kebab(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
