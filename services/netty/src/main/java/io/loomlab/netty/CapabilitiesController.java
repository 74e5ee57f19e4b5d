package io.loomlab.netty;

import io.loomlab.contract.BackendException;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.spring.PlainText;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class CapabilitiesController {
  private static final int CLIENT_GONE = 499;

  private final BackendClient backend;
  private final RequestMetrics requests;

  CapabilitiesController(BackendClient backend, RequestMetrics requests) {
    this.backend = backend;
    this.requests = requests;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  Mono<ResponseEntity<String>> capabilities() {
    Measurement measurement = new Measurement(requests.start(Endpoint.CAPABILITIES));
    return backend
        .capabilities()
        .map(PlainText::ok)
        .doOnSuccess(answer -> measurement.stop(200))
        .doOnError(failure -> measurement.stop(statusOf(failure)))
        .doOnCancel(() -> measurement.stop(CLIENT_GONE));
  }

  private static int statusOf(Throwable failure) {
    return failure instanceof BackendException e ? e.status() : 500;
  }

  /** Stops once: a client that goes away may cancel what has already succeeded. */
  private final class Measurement {
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final long started;

    Measurement(long started) {
      this.started = started;
    }

    void stop(int status) {
      if (stopped.compareAndSet(false, true)) {
        requests.stop(Endpoint.CAPABILITIES, started, status);
      }
    }
  }
}
