package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.Approach;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FanOutTest {
  private static final int CALLS = 20;

  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();

  @ParameterizedTest
  @CsvSource({"PLATFORM_THREADS, false", "VIRTUAL_THREADS, true"})
  void callsAreUnderWayAtOnceOnThreadsOfTheModelsKind(
      Approach.Concurrency concurrency, boolean virtual) {
    CyclicBarrier all = new CyclicBarrier(CALLS);
    Queue<Boolean> kinds = new ConcurrentLinkedQueue<>();
    String answer =
        FanOut.of(concurrency)
            .last(
                CALLS,
                () -> {
                  kinds.add(Thread.currentThread().isVirtual());
                  all.await(30, TimeUnit.SECONDS);
                  return "text";
                });
    assertThat(answer).isEqualTo("text");
    assertThat(kinds).hasSize(CALLS).containsOnly(virtual);
  }

  @Test
  void aFailureComesToLightOnceAllHaveEnded() {
    FanOut fanOut = FanOut.of(Approach.Concurrency.VIRTUAL_THREADS);
    BackendException failure = BackendException.unusable("nothing");
    assertThatThrownBy(() -> fanOut.last(CALLS, () -> failing(failure))).isSameAs(failure);
    assertThat(ended).hasValue(CALLS);
  }

  @Test
  void anErrorIsABug() {
    FanOut fanOut = FanOut.of(Approach.Concurrency.PLATFORM_THREADS);
    assertThatThrownBy(
            () ->
                fanOut.last(
                    1,
                    () -> {
                      throw new StackOverflowError();
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasCauseInstanceOf(StackOverflowError.class);
  }

  /** The second to come fails at once; the others take their time. */
  private String failing(BackendException failure) throws InterruptedException {
    boolean fails = started.incrementAndGet() == 2;
    Thread.sleep(fails ? 0 : 50);
    ended.incrementAndGet();
    if (fails) {
      throw failure;
    }
    return "text";
  }
}
