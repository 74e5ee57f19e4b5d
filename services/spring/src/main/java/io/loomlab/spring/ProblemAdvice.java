package io.loomlab.spring;

import io.loomlab.core.Answer;
import io.loomlab.core.ContractException;
import io.loomlab.core.RefusedException;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpMethod;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/** Answers what no endpoint answered: what the framework or the contract refused, and bugs. */
@ControllerAdvice
class ProblemAdvice {
  private static final Logger LOG = LoggerFactory.getLogger(ProblemAdvice.class);

  @ExceptionHandler
  Answer refused(ContractException refusal) {
    return Answer.problem(refusal);
  }

  @ExceptionHandler
  Answer anythingElse(Exception exception) {
    if (exception instanceof ErrorResponse refusal) {
      Set<HttpMethod> allowed = refusal.getHeaders().getAllow();
      return allowed.isEmpty()
          ? Answer.problem(refusal.getStatusCode().value())
          : Answer.problem(RefusedException.method(names(allowed)));
    }
    LOG.error("A request failed: {}", exception.toString());
    return Answer.problem(500);
  }

  /** Without HEAD and OPTIONS, which Spring would add. */
  private static String names(Set<HttpMethod> allowed) {
    return Stream.of(HttpMethod.GET, HttpMethod.POST)
        .filter(allowed::contains)
        .map(HttpMethod::name)
        .collect(Collectors.joining(","));
  }
}
