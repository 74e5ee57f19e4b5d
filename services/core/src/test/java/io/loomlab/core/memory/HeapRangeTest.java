package io.loomlab.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapRangeTest {
  private static final String PARALLEL =
      """
       PSYoungGen      total 76288K, used 3932K [0x00000000eab00000, 0x00000000f0000000, 0x0000000100000000)
        eden space 65536K, 6% used [0x00000000eab00000,0x00000000eaed7250,0x00000000eeb00000)
       ParOldGen       total 175104K, used 0K [0x00000000c0000000, 0x00000000cab00000, 0x00000000eab00000)
       Metaspace       used 1234K, committed 1408K, reserved 1114112K
      """;
  private static final String G1 =
      """
       garbage-first heap   total reserved 1048576K, committed 262144K, used 2048K [0x00000000c0000000, 0x0000000100000000)
        region size 1024K, 2 young (2048K), 0 survivors (0K)
      """;
  private static final String Z =
      """
       ZHeap           used 4M, capacity 256M, max capacity 256M
      """;

  @Test
  void itLiesAroundAllSpaces() {
    HeapRange all = new HeapRange(0xc0000000L, 0x100000000L);
    assertThat(HeapRange.in(PARALLEL)).contains(all);
    assertThat(HeapRange.in(G1)).contains(all);
  }

  @Test
  void anAddressIsInItFromItsStartToBeforeItsEnd() {
    HeapRange heap = new HeapRange(0x1000, 0x2000);
    assertThat(heap.holds(0xfff)).isFalse();
    assertThat(heap.holds(0x1000)).isTrue();
    assertThat(heap.holds(0x1fff)).isTrue();
    assertThat(heap.holds(0x2000)).isFalse();
    assertThat(heap.holds(0xffffffffff600000L)).isFalse();
  }

  @Test
  void thatOfZgcIsNotAnonymousAndHoldsNothing() {
    assertThat(HeapRange.in(Z)).contains(HeapRange.NOT_ANONYMOUS);
    assertThat(HeapRange.NOT_ANONYMOUS.holds(0)).isFalse();
  }

  @Test
  void aTextWithoutAddressesTellsNothing() {
    assertThat(HeapRange.in("a heap of another kind, used 4M")).isEmpty();
  }
}
