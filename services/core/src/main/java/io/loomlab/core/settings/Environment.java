package io.loomlab.core.settings;

import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Typed reading of environment variables; every error is a {@link UsageException}. */
public final class Environment {
  private static final Pattern DATABASE =
      Pattern.compile("postgresql://([^:@/]+):([^@/]*)@([^:@/]+):(\\d{1,5})/(\\w+)");

  private final Map<String, String> variables;

  public Environment(Map<String, String> variables) {
    this.variables = Map.copyOf(variables);
  }

  /** The value of a variable that must be set. */
  public String text(String name) {
    String value = variables.getOrDefault(name, "").strip();
    if (value.isEmpty()) {
      throw new UsageException(name + " is not set; set it in the container's environment.");
    }
    return value;
  }

  /** A whole number from 1. */
  public int positive(String name) {
    return from(name, 1);
  }

  /** A whole number from 0. */
  public int count(String name) {
    return from(name, 0);
  }

  /** A duration of at least the given number of milliseconds. */
  public Duration millis(String name, int lowest) {
    return Duration.ofMillis(from(name, lowest));
  }

  /** The constant whose name is the value in upper case. */
  public <E extends Enum<E>> E oneOf(String name, Class<E> kind) {
    String value = text(name);
    return EnumSet.allOf(kind).stream()
        .filter(constant -> Names.kebab(constant).equals(value))
        .findFirst()
        .orElseThrow(() -> new UsageException(notOneOf(name, value, kind)));
  }

  /** {@code true} or {@code false}. */
  public boolean flag(String name) {
    String value = text(name);
    if (value.equals("true") || value.equals("false")) {
      return value.equals("true");
    }
    throw new UsageException("%s is \"%s\"; use true or false.".formatted(name, value));
  }

  /** The value of a variable that may be empty or not set. */
  public Optional<String> optional(String name) {
    return Optional.of(variables.getOrDefault(name, "").strip()).filter(value -> !value.isEmpty());
  }

  /** The parts of {@code postgresql://USER:PASSWORD@HOST:PORT/DATABASE}. */
  public Matcher database(String name) {
    Matcher matcher = DATABASE.matcher(text(name));
    if (!matcher.matches()) {
      throw new UsageException(
          "%s is no address of a database; give one such as postgresql://user:password@database:5432/orders."
              .formatted(name));
    }
    return matcher;
  }

  /** An {@code http} URL without path, query or fragment. */
  public URI httpOrigin(String name) {
    String value = text(name);
    try {
      URI uri = URI.create(value);
      if ("http".equals(uri.getScheme())
          && uri.getHost() != null
          && value.endsWith(uri.getRawAuthority())) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // falls through to the one sentence for every unusable value
    }
    throw new UsageException(
        "%s is \"%s\"; give an origin such as http://backend:8080.".formatted(name, value));
  }

  private static <E extends Enum<E>> String notOneOf(String name, String value, Class<E> kind) {
    return "%s is \"%s\"; use one of %s."
        .formatted(
            name,
            value,
            EnumSet.allOf(kind).stream().map(Names::kebab).collect(Collectors.joining(", ")));
  }

  private int from(String name, int lowest) {
    String value = text(name);
    try {
      int number = Integer.parseInt(value);
      if (number >= lowest) {
        return number;
      }
    } catch (NumberFormatException e) {
      // falls through to the one sentence for every unusable value
    }
    throw new UsageException(
        "%s is \"%s\"; give a whole number from %d to %d."
            .formatted(name, value, lowest, Integer.MAX_VALUE));
  }
}
