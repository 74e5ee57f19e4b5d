package io.loomlab.core.http;

import java.nio.charset.StandardCharsets;

/**
 * What an approach answers, headers of the connection aside.
 *
 * @param allow value of the Allow header, null without
 */
public record Answer(int status, String contentType, byte[] body, String allow) {
  public static final String TEXT = "text/plain;charset=UTF-8";
  public static final String JSON = "application/json";

  private static final System.Logger LOG = System.getLogger(Answer.class.getName());

  public static Answer text(String body) {
    return new Answer(200, TEXT, body.getBytes(StandardCharsets.UTF_8), null);
  }

  /** JSON that is text already. */
  public static Answer json(String body) {
    return json(body.getBytes(StandardCharsets.UTF_8));
  }

  /** JSON that is encoded already. */
  public static Answer json(byte[] body) {
    return new Answer(200, JSON, body, null);
  }

  /** JSON of what the request made. */
  public static Answer created(byte[] body) {
    return new Answer(201, JSON, body, null);
  }

  /** The problem of what was thrown; what is no {@link ContractException} is a bug, and logged. */
  public static Answer problem(Throwable failure) {
    return switch (failure) {
      case RefusedException refused -> problem(refused.problem(), refused.allow());
      case ContractException known -> problem(known.problem(), null);
      default -> {
        LOG.log(System.Logger.Level.ERROR, "A request failed: {0}", failure.toString());
        yield problem(500);
      }
    };
  }

  /** The problem of an HTTP status. */
  public static Answer problem(int status) {
    return problem(Problem.of(status), null);
  }

  private static Answer problem(Problem problem, String allow) {
    return new Answer(problem.status(), Problem.CONTENT_TYPE, problem.bytes(), allow);
  }
}
