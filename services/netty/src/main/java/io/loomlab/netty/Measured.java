package io.loomlab.netty;

import io.loomlab.contract.Answer;
import io.loomlab.contract.ContractException;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.RequestMetrics;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Runs reactive handlers, records them, and turns what fails into its problem. */
class Measured {
  private static final Logger LOG = LoggerFactory.getLogger(Measured.class);
  private static final int CLIENT_GONE = 499;

  private final RequestMetrics requests;

  Measured(RequestMetrics requests) {
    this.requests = requests;
  }

  /** To be called on the thread that serves the request; never fails. */
  Mono<Answer> answer(Endpoint endpoint, Supplier<Mono<Answer>> handler) {
    Request request = new Request(endpoint, requests.start(endpoint));
    return Mono.defer(handler)
        .onErrorResume(failure -> Mono.just(problem(failure)))
        .doOnNext(answer -> request.stop(answer.status()))
        .doOnCancel(() -> request.stop(CLIENT_GONE));
  }

  private static Answer problem(Throwable failure) {
    if (!(failure instanceof ContractException)) {
      LOG.error("A request failed: {}", failure.toString());
    }
    return Answer.problem(failure);
  }

  /** Stops once: a client that goes away may cancel what has already succeeded. */
  private final class Request {
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final Endpoint endpoint;
    private final long started;

    Request(Endpoint endpoint, long started) {
      this.endpoint = endpoint;
      this.started = started;
    }

    void stop(int status) {
      if (stopped.compareAndSet(false, true)) {
        requests.stop(endpoint, started, status);
      }
    }
  }
}
