package io.loomlab.spring;

import java.util.regex.Pattern;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/**
 * Keeps out of the lean style what only the idiomatic one needs: the actuator, Spring's clients.
 */
class LeanAutoConfiguration implements AutoConfigurationImportFilter, EnvironmentAware {
  private static final Pattern IDIOMATIC =
      Pattern.compile(
          "org\\.springframework\\.boot\\.(actuate|health|http\\.client|micrometer|restclient|webclient)\\..*"
              + "|.*(\\.actuate\\.|\\.metrics\\.|Observation).*");

  private boolean lean;

  @Override
  public void setEnvironment(Environment environment) {
    lean = environment.acceptsProfiles(Profiles.of(LabApplication.LEAN));
  }

  /** Some names are null: those that another filter has left out. */
  @Override
  public boolean[] match(String[] classes, AutoConfigurationMetadata metadata) {
    boolean[] matches = new boolean[classes.length];
    for (int i = 0; i < classes.length; i++) {
      matches[i] = !lean || classes[i] == null || !IDIOMATIC.matcher(classes[i]).matches();
    }
    return matches;
  }
}
