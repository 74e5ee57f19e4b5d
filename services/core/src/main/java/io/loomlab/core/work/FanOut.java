package io.loomlab.core.work;

import io.loomlab.core.settings.Approach;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs backend calls of one request side by side, each on a thread of the kind that the approach is
 * named after.
 */
public final class FanOut {
  private final ExecutorService threads;

  private FanOut(ExecutorService threads) {
    this.threads = threads;
  }

  /**
   * A virtual thread per call; or platform threads of an executor of their own, as many as there
   * are calls under way. On the pool that serves requests, every thread could come to wait for
   * calls that wait for a thread.
   */
  public static FanOut of(Approach.Concurrency concurrency) {
    return new FanOut(
        concurrency == Approach.Concurrency.VIRTUAL_THREADS
            ? Executors.newVirtualThreadPerTaskExecutor()
            : Executors.newCachedThreadPool(
                Thread.ofPlatform().daemon().name("fan-out-", 0).factory()));
  }

  /** Makes so many equal calls, waits until all have ended, and gives the last one's answer. */
  public String last(int calls, Callable<String> call) {
    try {
      String answer = null;
      for (Future<String> each : threads.invokeAll(Collections.nCopies(calls, call))) {
        answer = each.get();
      }
      return answer;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", e);
    }
  }
}
