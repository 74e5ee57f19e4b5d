package io.loomlab.core.metrics;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What all threads have allocated in the heap, whatever the collector, without the one that reads
 * it: {@link ManagementServer} has a single thread, and a reading allocates as much as several
 * requests. Each thread counts its own; a virtual thread's is counted by its carrier.
 */
public final class Allocation implements MeterBinder {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final AtomicLong most = new AtomicLong();

  @Override
  public void bindTo(MeterRegistry registry) {
    FunctionCounter.builder("lab.allocated", THREADS, this::byOthers)
        .description(
            "Bytes that all threads but the one that reads this have allocated in the heap")
        .baseUnit(BaseUnits.BYTES)
        .register(registry);
  }

  /** Never less than before: the JVM's total may stand still while the reader's own share grows. */
  private double byOthers(ThreadMXBean threads) {
    long bytes = threads.getTotalThreadAllocatedBytes() - threads.getCurrentThreadAllocatedBytes();
    return most.accumulateAndGet(bytes, Math::max);
  }
}
