package io.loomlab.core.http;

/** A request that ends in a problem. Carries no stack trace: it is an outcome, not a bug. */
public abstract sealed class ContractException extends RuntimeException
    permits BackendException, DatabaseException, RefusedException {
  private final Problem problem;

  ContractException(Problem problem, String message, Throwable cause) {
    super(message, cause, false, false);
    this.problem = problem;
  }

  /** What the approach answers. */
  public Problem problem() {
    return problem;
  }
}
