package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessMemoryTest {
  private static final String SMAPS =
      """
      c0000000-d0000000 rw-p 00000000 00:00 0
      Size:             262144 kB
      Rss:                 300 kB
      Anonymous:           200 kB
      AnonHugePages:        80 kB
      VmFlags: rd wr mr mw me ac sd
      d0000000-d0001000 ---p 00000000 00:00 0
      Anonymous:             0 kB
      7f0000000000-7f0000100000 rw-p 00000000 00:00 0    [anon: a stack]
      Anonymous:            16 kB
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
      Anonymous:             4 kB
      """;

  @TempDir Path directory;

  @Test
  void anonymousMemoryIsThatOfAllMappingsAndOfTheHeaps() throws IOException {
    Files.writeString(directory.resolve("smaps"), SMAPS);
    assertThat(memory().anonymous(new HeapRange(0xc0000000L, 0x100000000L)))
        .isEqualTo(new ProcessMemory.Anonymous(220 * 1024, 200 * 1024));
    assertThat(memory().anonymous(HeapRange.NOT_ANONYMOUS).heapBytes()).isZero();
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
  }

  @Test
  void whatTheKernelDoesNotTellIsNull() throws IOException {
    assertThat(memory().anonymous(HeapRange.NOT_ANONYMOUS)).isNull();
    assertThat(memory().threads()).isNull();
    assertThat(memory().kernelBytes()).isNull();
    Files.writeString(directory.resolve("memory.stat"), "anon 1\n");
    assertThat(memory().kernelBytes()).isNull();
  }

  private ProcessMemory memory() {
    return new ProcessMemory(directory, directory);
  }
}
