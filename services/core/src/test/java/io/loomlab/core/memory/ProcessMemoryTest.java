package io.loomlab.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMemoryTest {
  private static final String SMAPS =
      """
      b0000000-b0001000 rw-p 00000000 00:00 0
      Anonymous:             4 kB
      c0000000-d0000000 rw-p 00000000 00:00 0
      Size:             262144 kB
      Rss:                 300 kB
      Anonymous:           200 kB
      AnonHugePages:        80 kB
      VmFlags: rd wr mr mw me ac sd
      d0000000-d0001000 rw-p 00000000 00:00 0
      Anonymous:             3 kB
      7f0000000000-7f0000100000 rw-p 00000000 00:00 0    [anon: a stack]
      Anonymous:            16 kB
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
      Anonymous:             4 kB
      """;

  @TempDir Path directory;

  @Test
  void anonymousMemoryIsThatOfAllMappings() throws IOException {
    Files.writeString(
        directory.resolve("smaps_rollup"),
        "b0000000-7fff000 ---p 0 00:00 0  [rollup]\nRss:  900 kB\nAnonymous:   220 kB\n");
    assertThat(memory().rssAnonBytes()).isEqualTo(220 * 1024);
  }

  @Test
  void thatOfTheHeapIsOfTheMappingsThatBeginWithin() throws IOException {
    Files.writeString(directory.resolve("smaps"), SMAPS);
    assertThat(parts(new HeapRange(0xc0000000L, 0x100000000L)).heapBytes()).isEqualTo(203 * 1024);
    assertThat(parts(new HeapRange(0xd0000000L, 0x100000000L)).heapBytes()).isEqualTo(3 * 1024);
    assertThat(parts(HeapRange.NOT_ANONYMOUS).heapBytes()).isZero();
  }

  @Test
  void stacksBeginWhereTheirGuardZonesEnd() throws IOException {
    long stackBytes = Mapping.STACK_BYTES;
    long guardBytes = 16 << 10;
    String lines =
        mapping(0x10000000L, guardBytes, "---p", 0)
            + mapping(0x10000000L + guardBytes, stackBytes - guardBytes, "rw-p", 92)
            + mapping(0x20000000L, 65_420 << 10, "---p", 0)
            + mapping(0x20000000L + (65_420 << 10), stackBytes - guardBytes, "rw-p", 8)
            + mapping(0x30000000L, 65_404 << 10, "---p", 0)
            + mapping(0x30000000L + (65_404 << 10), 132 << 10, "rw-p", 700)
            + mapping(0x40000000L, stackBytes - guardBytes, "rw-p", 700)
            + mapping(0x48000000L, guardBytes, "---p", 0)
            + mapping(0x4c000000L, stackBytes - guardBytes, "rw-p", 700)
            + mapping(0x50000000L, guardBytes, "rw-p", 0)
            + mapping(0x50000000L + guardBytes, stackBytes - guardBytes, "rw-p", 700)
            + mapping(0x60000000L, guardBytes, "---p", 0)
            + mapping(0x60000000L + guardBytes, stackBytes, "rw-p", 700);
    Files.writeString(directory.resolve("smaps"), lines);
    assertThat(parts(HeapRange.NOT_ANONYMOUS).threadStackBytes()).isEqualTo(100 * 1024);
  }

  @Test
  void stacksThatAreNotRecognisedAreNotNone() throws IOException {
    long guardBytes = 256 << 10;
    Files.writeString(
        directory.resolve("smaps"),
        mapping(0x10000000L, guardBytes, "---p", 0)
            + mapping(0x10000000L + guardBytes, Mapping.STACK_BYTES - guardBytes, "rw-p", 92));
    assertThat(parts(HeapRange.NOT_ANONYMOUS).threadStackBytes()).isNull();
  }

  private static String mapping(long start, long bytes, String permissions, int anonymousKib) {
    return "%x-%x %s 00000000 00:00 0\nAnonymous:  %d kB\n"
        .formatted(start, start + bytes, permissions, anonymousKib);
  }

  @Test
  void threadsAreThoseOfTheProcess() throws IOException {
    Files.writeString(directory.resolve("status"), "Name:\tjava\nVmRSS:\t  9 kB\nThreads:\t41\n");
    assertThat(memory().threads()).isEqualTo(41);
  }

  @Test
  void kernelMemoryIsToldByEitherVersionOfCgroups() throws IOException {
    Path version1 = Files.createDirectory(directory.resolve("memory"));
    Files.writeString(version1.resolve("memory.kmem.usage_in_bytes"), "4096\n");
    assertThat(memory().kernelBytes()).isEqualTo(4096);
    Files.writeString(
        directory.resolve("memory.stat"), "anon 1\nkernel_stack 2\nkernel 12345\nslab 3\n");
    assertThat(memory().kernelBytes()).isEqualTo(12345);
    Files.writeString(directory.resolve("memory.stat"), "anon 1\nkernel 0\n");
    assertThat(memory().kernelBytes()).isNull();
  }

  @Test
  void whatTheKernelDoesNotTellIsNull() throws IOException {
    assertThat(memory().rssAnonBytes()).isNull();
    assertThat(parts(HeapRange.NOT_ANONYMOUS)).isEqualTo(new ProcessMemory.Parts(null, null));
    assertThat(memory().threads()).isNull();
    assertThat(memory().kernelBytes()).isNull();
    Files.writeString(directory.resolve("memory.stat"), "anon 1\n");
    assertThat(memory().kernelBytes()).isNull();
  }

  private ProcessMemory.Parts parts(HeapRange heap) {
    return memory().rssAnonParts(heap);
  }

  private ProcessMemory memory() {
    return new ProcessMemory(directory, directory);
  }
}
