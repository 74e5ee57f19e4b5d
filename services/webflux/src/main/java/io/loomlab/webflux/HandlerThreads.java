package io.loomlab.webflux;

import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;

/**
 * A virtual thread per request: WebFlux hands a request over twice, for reading its arguments
 * ({@code RequestMappingHandlerAdapter}) and for calling its handler ({@code
 * InvocableHandlerMethod}), and the second time it is on such a thread already.
 */
final class HandlerThreads implements AsyncTaskExecutor {
  private final VirtualThreadTaskExecutor threads = new VirtualThreadTaskExecutor("netty-handler-");

  @Override
  public void execute(Runnable task) {
    if (Thread.currentThread().isVirtual()) {
      task.run();
    } else {
      threads.execute(task);
    }
  }
}
