package io.loomlab.core.memory;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Where the heap lies in this process's address space.
 *
 * @param start its first address
 * @param end the first one after it
 */
record HeapRange(long start, long end) {
  /** Of ZGC, whose heap is shared memory, which the kernel does not count as anonymous. */
  static final HeapRange NOT_ANONYMOUS = new HeapRange(0, 0);

  private static final String COMMANDS = "com.sun.management:type=DiagnosticCommand";
  private static final String HEAP_INFO = "gcHeapInfo";
  private static final String ZGC = "ZHeap";

  /** Two addresses, or three with the end of what is committed between them. */
  private static final Pattern SPACE =
      Pattern.compile("\\[0x(\\p{XDigit}+),[^)]*0x(\\p{XDigit}+)\\)");

  /** Empty where this JVM does not tell. */
  static Optional<HeapRange> ofThisJvm() {
    try {
      Object info =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(new ObjectName(COMMANDS), HEAP_INFO, null, null);
      return in((String) info);
    } catch (JMException e) {
      return Optional.empty();
    }
  }

  /** From the text of {@code jcmd GC.heap_info}: around all spaces that it names. */
  static Optional<HeapRange> in(String heapInfo) {
    if (heapInfo.contains(ZGC)) {
      return Optional.of(NOT_ANONYMOUS);
    }
    return SPACE
        .matcher(heapInfo)
        .results()
        .map(space -> new HeapRange(address(space, 1), address(space, 2)))
        .reduce(HeapRange::around);
  }

  boolean holds(long address) {
    return Long.compareUnsigned(start, address) <= 0 && Long.compareUnsigned(address, end) < 0;
  }

  private HeapRange around(HeapRange other) {
    return new HeapRange(Math.min(start, other.start), Math.max(end, other.end));
  }

  private static long address(MatchResult space, int group) {
    return Long.parseUnsignedLong(space.group(group), 16);
  }
}
