package io.loomlab.core.settings;

import java.util.EnumSet;
import java.util.stream.Collectors;

/**
 * What is compared: a server, one Maven module each, together with the concurrency model its
 * handlers run under.
 *
 * @param label the public name: image, Compose service and metric label
 */
public record Approach(String label, Concurrency concurrency) {
  /** What a request occupies while it waits. */
  public enum Concurrency {
    PLATFORM_THREADS,
    VIRTUAL_THREADS,
    REACTIVE,
    COMPLETABLE_FUTURE
  }

  /**
   * This approach, provided that its concurrency is one of those that a server can do.
   *
   * @throws UsageException if it is not
   */
  public Approach among(Concurrency first, Concurrency... others) {
    EnumSet<Concurrency> able = EnumSet.of(first, others);
    if (!able.contains(concurrency)) {
      throw new UsageException(
          "LAB_CONCURRENCY is \"%s\", which the server of %s does not do; use one of %s."
              .formatted(
                  Names.kebab(concurrency),
                  label,
                  able.stream().map(Names::kebab).collect(Collectors.joining(", "))));
    }
    return this;
  }
}
