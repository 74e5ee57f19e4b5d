package io.loomlab.core.memory;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * A piece of this process's address space.
 *
 * @param start its first address
 * @param end the first one after it
 * @param permissions as in {@code /proc/self/smaps}, such as {@code rw-p}
 */
record Mapping(long start, long end, String permissions) {
  static final Mapping NONE = new Mapping(0, 0, "");

  static final long STACK_BYTES = 1024 * option("ThreadStackSize");
  private static final long LARGEST_GUARD_BYTES = 1 << 16;
  private static final int PERMISSIONS_LENGTH = 4;

  /** From the line that begins it: {@code START-END PERMISSIONS}, addresses in hexadecimal. */
  static Mapping of(String line) {
    int dash = line.indexOf('-');
    int space = line.indexOf(' ');
    return new Mapping(
        Long.parseUnsignedLong(line, 0, dash, 16),
        Long.parseUnsignedLong(line, dash + 1, space, 16),
        line.substring(space + 1, space + 1 + PERMISSIONS_LENGTH));
  }

  /**
   * Whether it is a Java thread's stack: HotSpot takes all access from the lowest pages of each,
   * its guard zone, so the rest is a mapping of its own that begins where an inaccessible one ends.
   */
  boolean isStackAbove(Mapping below) {
    long guardBytes = STACK_BYTES - (end - start);
    return below.end == start
        && below.permissions.startsWith("---")
        && permissions.startsWith("rw-")
        && guardBytes > 0
        && guardBytes <= LARGEST_GUARD_BYTES;
  }

  private static long option(String name) {
    return Long.parseLong(
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
            .getVMOption(name)
            .getValue());
  }
}
