package io.loomlab.spring;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.ContractException;
import io.loomlab.core.http.RefusedException;
import io.loomlab.core.work.Movies;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.server.ServerWebInputException;

/** Answers what no endpoint answered: what the framework or the contract refused, and bugs. */
@ControllerAdvice
class ProblemAdvice {
  @ExceptionHandler
  ResponseEntity<byte[]> refused(ContractException refusal) {
    return entity(Answer.problem(refusal));
  }

  @ExceptionHandler
  ResponseEntity<byte[]> anythingElse(Throwable failure) {
    if (NestedExceptionUtils.getMostSpecificCause(failure) instanceof ContractException refusal) {
      return refused(refusal);
    }
    if (isUnreadableBody(failure)) {
      return refused(Movies.unusable());
    }
    if (failure instanceof ErrorResponse response) {
      Set<HttpMethod> allowed = response.getHeaders().getAllow();
      return entity(
          allowed.isEmpty()
              ? Answer.problem(response.getStatusCode().value())
              : Answer.problem(RefusedException.method(names(allowed))));
    }
    return entity(Answer.problem(failure));
  }

  /** As Spring MVC and as WebFlux tells it, of the only body that they are asked to read. */
  private static boolean isUnreadableBody(Throwable failure) {
    return failure instanceof HttpMessageNotReadableException
        || failure instanceof ServerWebInputException input
            && input.getMethodParameter() != null
            && input.getMethodParameter().hasParameterAnnotation(RequestBody.class);
  }

  private static ResponseEntity<byte[]> entity(Answer problem) {
    HttpHeaders headers = new HttpHeaders();
    headers.set(HttpHeaders.CONTENT_TYPE, problem.contentType());
    if (problem.allow() != null) {
      headers.set(HttpHeaders.ALLOW, problem.allow());
    }
    return ResponseEntity.status(problem.status()).headers(headers).body(problem.body());
  }

  /** Without HEAD and OPTIONS, which Spring would add. */
  private static String names(Set<HttpMethod> allowed) {
    return Stream.of(HttpMethod.GET, HttpMethod.POST)
        .filter(allowed::contains)
        .map(HttpMethod::name)
        .collect(Collectors.joining(","));
  }
}
