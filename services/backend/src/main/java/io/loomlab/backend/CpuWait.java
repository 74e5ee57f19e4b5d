package io.loomlab.backend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongSupplier;

/**
 * How long the thread that asks first has waited for a CPU while it could run, in nanoseconds: the
 * second figure of Linux's schedstat (sched-stats.rst of the kernel). 0 where the kernel does not
 * tell.
 */
final class CpuWait implements LongSupplier {
  private static final int LONGEST_TEXT = 64;

  private final Path schedstat;
  private final ByteBuffer text = ByteBuffer.allocateDirect(LONGEST_TEXT);
  private FileChannel file;
  private long lastNanos;
  private boolean untold;

  CpuWait() {
    this(Path.of("/proc/thread-self/schedstat"));
  }

  CpuWait(Path schedstat) {
    this.schedstat = schedstat;
  }

  @Override
  public long getAsLong() {
    if (untold) {
      return lastNanos;
    }
    try {
      if (file == null) {
        file = FileChannel.open(schedstat, StandardOpenOption.READ);
      }
      text.clear();
      file.read(text, 0);
      lastNanos = secondNumber(text.flip());
    } catch (IOException e) {
      untold = true;
    }
    return lastNanos;
  }

  private static long secondNumber(ByteBuffer text) {
    long number = 0;
    int spaces = 0;
    while (spaces < 2 && text.hasRemaining()) {
      byte next = text.get();
      if (next == ' ') {
        spaces++;
      } else if (spaces == 1) {
        number = 10 * number + next - '0';
      }
    }
    return number;
  }
}
