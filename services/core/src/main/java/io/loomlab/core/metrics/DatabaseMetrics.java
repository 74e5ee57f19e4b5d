package io.loomlab.core.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Metrics of a pool of connections to the database, recorded alike by every driver. */
public final class DatabaseMetrics {
  private final MeterRegistry registry;
  private final Timer waits;
  private final Counter retries;

  public DatabaseMetrics(MeterRegistry registry) {
    this.registry = registry;
    waits =
        Timer.builder("lab.database.wait")
            .serviceLevelObjectives(RequestMetrics.BUCKETS.toArray(Duration[]::new))
            .register(registry);
    retries = registry.counter("lab.database.retries");
  }

  /**
   * Gauges, read when metrics are scraped.
   *
   * @param open connections that there are
   * @param active those that requests have
   * @param pending requests that wait for one
   */
  public void watch(IntSupplier open, IntSupplier active, IntSupplier pending) {
    gauge("lab.database.connections", open);
    gauge("lab.database.active", active);
    gauge("lab.database.pending", pending);
  }

  /** Notes that a request got a connection, and how long it had waited for it. */
  public void waited(long nanos) {
    waits.record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Notes that a transaction is tried again. */
  public void retried() {
    retries.increment();
  }

  private void gauge(String name, IntSupplier value) {
    Gauge.builder(name, value, IntSupplier::getAsInt).strongReference(true).register(registry);
  }
}
