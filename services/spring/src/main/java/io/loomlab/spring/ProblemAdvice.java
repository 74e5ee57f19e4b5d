package io.loomlab.spring;

import io.loomlab.contract.BackendException;
import io.loomlab.contract.Problem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Answers whatever goes wrong with the contract's problem body, on either web stack. */
@RestControllerAdvice
class ProblemAdvice {
  private static final Logger LOG = LoggerFactory.getLogger(ProblemAdvice.class);

  @ExceptionHandler
  ResponseEntity<byte[]> backendFailed(BackendException exception) {
    return answer(Problem.of(exception.status()), HttpHeaders.EMPTY);
  }

  @ExceptionHandler
  ResponseEntity<byte[]> anythingElse(Exception exception) {
    if (exception instanceof ErrorResponse refusal) {
      return answer(Problem.of(refusal.getStatusCode().value()), refusal.getHeaders());
    }
    LOG.error("A request failed: {}", exception.toString());
    return answer(Problem.of(500), HttpHeaders.EMPTY);
  }

  private static ResponseEntity<byte[]> answer(Problem problem, HttpHeaders headers) {
    return ResponseEntity.status(problem.status())
        .headers(headers)
        .header(HttpHeaders.CONTENT_TYPE, Problem.CONTENT_TYPE)
        .body(problem.bytes());
  }
}
