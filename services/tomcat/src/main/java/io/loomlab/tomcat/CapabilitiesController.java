package io.loomlab.tomcat;

import io.loomlab.contract.BackendException;
import io.loomlab.contract.BlockingBackend;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.spring.PlainText;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class CapabilitiesController {
  private final BlockingBackend backend;
  private final RequestMetrics requests;

  CapabilitiesController(BlockingBackend backend, RequestMetrics requests) {
    this.backend = backend;
    this.requests = requests;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  ResponseEntity<String> capabilities() {
    long started = requests.start(Endpoint.CAPABILITIES);
    int status = 500;
    try {
      ResponseEntity<String> answer = PlainText.ok(backend.capabilities());
      status = 200;
      return answer;
    } catch (BackendException e) {
      status = e.status();
      throw e;
    } finally {
      requests.stop(Endpoint.CAPABILITIES, started, status);
    }
  }
}
