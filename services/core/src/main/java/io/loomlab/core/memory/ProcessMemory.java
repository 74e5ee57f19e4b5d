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
    Long kib = find(process.resolve("smaps_rollup"), ANONYMOUS);
    return kib == null ? null : kib * BYTES_PER_KIB;
  }

  /**
   * The heap's part of that: of the mappings that begin within. They come by address, and nothing
   * is read beyond the heap, for every thread has two of them.
   */
  Long rssAnonBytesOf(HeapRange heap) {
    Path mappings = process.resolve("smaps");
    try (BufferedReader lines = Files.newBufferedReader(mappings, StandardCharsets.ISO_8859_1)) {
      long bytes = 0;
      boolean inHeap = false;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (beginsMapping(line)) {
          if (heap.endsBefore(startOf(line))) {
            return bytes;
          }
          inHeap = heap.holds(startOf(line));
        } else if (inHeap && line.startsWith(ANONYMOUS)) {
          bytes += number(line) * BYTES_PER_KIB;
        }
      }
      return bytes;
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * The part of that in Java threads' stacks, the compilers' among them. Every mapping is looked
   * at, and a thread has two. Null if none is found to be a stack: guard zones of 64-KiB pages are
   * larger than {@link Mapping} looks for.
   */
  Long threadStackBytes() {
    Path mappings = process.resolve("smaps");
    try (BufferedReader lines = Files.newBufferedReader(mappings, StandardCharsets.ISO_8859_1)) {
      long bytes = 0;
      Mapping mapping = Mapping.NONE;
      boolean isStack = false;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (beginsMapping(line)) {
          Mapping next = Mapping.of(line);
          isStack = next.isStackAbove(mapping);
          mapping = next;
        } else if (isStack && line.startsWith(ANONYMOUS)) {
          bytes += number(line) * BYTES_PER_KIB;
        }
      }
      return bytes == 0 ? null : bytes;
    } catch (IOException e) {
      return null;
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
