package io.loomlab.core.memory;

import io.loomlab.core.http.Answer;
import io.loomlab.core.metrics.ManagementServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * High-water marks since they were last reset: the kernel's of the process's RSS (VmHWM), and the
 * JVM's of its platform threads, which {@code jvm_threads_peak_threads} shows. A sample a second
 * misses what came and went between two.
 */
public final class Peaks implements MeterBinder, ManagementServer.Handler {
  public static final String PATH = "/peaks";

  private static final Path THIS_PROCESS = Path.of("/proc/self");
  private static final String RSS_MARK = "VmHWM:";

  /** See proc(5): 5 sets the mark of the RSS to what it is now. */
  private static final String RESET = "5";

  private final Path process;

  public Peaks() {
    this(THIS_PROCESS);
  }

  Peaks(Path process) {
    this.process = process;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("process.memory.hwm", this, Peaks::rssBytes)
        .description("The process's largest RSS, with mapped files, since PUT /peaks")
        .baseUnit(BaseUnits.BYTES)
        .strongReference(true)
        .register(registry);
  }

  @Override
  public Answer answer(String method, String query) {
    if (!method.equals("PUT")) {
      return ManagementServer.wrongMethod("PUT");
    }
    reset();
    return Answer.text("The marks begin anew.");
  }

  private void reset() {
    ManagementFactory.getThreadMXBean().resetPeakThreadCount();
    try {
      Files.writeString(process.resolve("clear_refs"), RESET);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** NaN where the kernel does not tell. */
  private double rssBytes() {
    Long bytes = ProcessMemory.bytes(process.resolve("status"), RSS_MARK);
    return bytes == null ? Double.NaN : bytes;
  }
}
