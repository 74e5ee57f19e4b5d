package io.loomlab.core.memory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel counts of this process and of its container; null where it does not tell. */
final class ProcessMemory {
  private static final String ANONYMOUS = "Anonymous:";
  private static final String THREADS = "Threads:";

  /** Of cgroup v2's memory.stat, since Linux 5.18. */
  private static final String KERNEL = "kernel ";

  private static final int BYTES_PER_KIB = 1024;

  private final Path process;
  private final Path cgroup;

  ProcessMemory() {
    this(Path.of("/proc/self"), Path.of("/sys/fs/cgroup"));
  }

  ProcessMemory(Path process, Path cgroup) {
    this.process = process;
    this.cgroup = cgroup;
  }

  /**
   * Resident anonymous memory by the page tables: the sum in {@code status} may lag, up to Linux
   * 6.1 by 64 pages a thread.
   */
  Long rssAnonBytes() {
    return bytes(process.resolve("smaps_rollup"), ANONYMOUS);
  }

  /**
   * Parts of that, null where the kernel does not tell.
   *
   * @param heapBytes of the mappings that begin within the heap
   * @param threadStackBytes in Java threads' stacks, the compilers' among them; null if none is
   *     found to be a stack: guard zones of 64-KiB pages are larger than {@link Mapping} looks for
   */
  record Parts(Long heapBytes, Long threadStackBytes) {
    static final Parts UNKNOWN = new Parts(null, null);
  }

  /** Reads the mappings once: each is looked at, and a thread has two. */
  Parts rssAnonParts(HeapRange heap) {
    Path mappings = process.resolve("smaps");
    try (BufferedReader lines = Files.newBufferedReader(mappings, StandardCharsets.ISO_8859_1)) {
      long heapBytes = 0;
      long stackBytes = 0;
      Mapping mapping = Mapping.NONE;
      boolean inHeap = false;
      boolean isStack = false;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (beginsMapping(line)) {
          Mapping next = Mapping.of(line);
          inHeap = heap.holds(next.start());
          isStack = next.isStackAbove(mapping);
          mapping = next;
        } else if ((inHeap || isStack) && line.startsWith(ANONYMOUS)) {
          long bytes = number(line) * BYTES_PER_KIB;
          heapBytes += inHeap ? bytes : 0;
          stackBytes += isStack ? bytes : 0;
        }
      }
      return new Parts(heapBytes, stackBytes == 0 ? null : stackBytes);
    } catch (IOException e) {
      return Parts.UNKNOWN;
    }
  }

  /** Threads of the operating system. */
  Long threads() {
    return find(process.resolve("status"), THREADS);
  }

  /**
   * Memory that the kernel uses for the container: stacks, page tables, sockets and so on. Null
   * where it counts none of that ({@code cgroup.memory=nokmem}).
   */
  Long kernelBytes() {
    Long version2 = find(cgroup.resolve("memory.stat"), KERNEL);
    Long bytes =
        version2 == null ? find(cgroup.resolve("memory/memory.kmem.usage_in_bytes"), "") : version2;
    return bytes == null || bytes == 0 ? null : bytes;
  }

  private static boolean beginsMapping(String line) {
    return !line.isEmpty() && !Character.isUpperCase(line.charAt(0));
  }

  /** In bytes, the kibibytes that the first line tells that starts so. */
  static Long bytes(Path file, String start) {
    Long kib = find(file, start);
    return kib == null ? null : kib * BYTES_PER_KIB;
  }

  /** The number in the first line that starts so. */
  private static Long find(Path file, String start) {
    try (var lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines
          .filter(line -> line.startsWith(start))
          .map(ProcessMemory::number)
          .findFirst()
          .orElse(null);
    } catch (IOException | UncheckedIOException e) {
      return null;
    }
  }

  private static Long number(String line) {
    return Long.valueOf(line.replaceAll("\\D", ""));
  }
}
