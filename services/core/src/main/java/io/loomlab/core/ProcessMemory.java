package io.loomlab.core;

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
   * Resident anonymous memory.
   *
   * @param bytes of all mappings
   * @param heapBytes of those that begin within the heap
   */
  record Anonymous(long bytes, long heapBytes) {}

  /**
   * By mapping, as the page tables hold it: the sums in {@code status} may lag, up to Linux 6.1 by
   * 64 pages a thread.
   */
  Anonymous anonymous(HeapRange heap) {
    Path mappings = process.resolve("smaps");
    try (BufferedReader lines = Files.newBufferedReader(mappings, StandardCharsets.ISO_8859_1)) {
      long bytes = 0;
      long heapBytes = 0;
      boolean inHeap = false;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(ANONYMOUS)) {
          long added = number(line) * BYTES_PER_KIB;
          bytes += added;
          heapBytes += inHeap ? added : 0;
        } else if (beginsMapping(line)) {
          inHeap = heap.holds(startOf(line));
        }
      }
      return new Anonymous(bytes, heapBytes);
    } catch (IOException e) {
      return null;
    }
  }

  /** Threads of the operating system. */
  Long threads() {
    return find(process.resolve("status"), THREADS);
  }

  /** Memory that the kernel uses for the container: stacks, page tables, sockets and so on. */
  Long kernelBytes() {
    Long version2 = find(cgroup.resolve("memory.stat"), KERNEL);
    return version2 == null
        ? find(cgroup.resolve("memory/memory.kmem.usage_in_bytes"), "")
        : version2;
  }

  private static boolean beginsMapping(String line) {
    return !line.isEmpty() && !Character.isUpperCase(line.charAt(0));
  }

  private static long startOf(String mapping) {
    return Long.parseUnsignedLong(mapping, 0, mapping.indexOf('-'), 16);
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
