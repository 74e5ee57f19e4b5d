package io.loomlab.core.http;

/** A request that asks for what the contract does not offer. */
public final class RefusedException extends ContractException {
  private final String allow;

  private RefusedException(Problem problem, String allow) {
    super(problem, problem.detail(), null);
    this.allow = allow;
  }

  /** With the detail that says what is wrong with which value. */
  public static RefusedException of(int status, String detail) {
    return new RefusedException(Problem.of(status).because(detail), null);
  }

  /** With the status's own detail. */
  public static RefusedException of(int status) {
    return new RefusedException(Problem.of(status), null);
  }

  /**
   * 405.
   *
   * @param allow methods that the path takes, as the Allow header names them
   */
  public static RefusedException method(String allow) {
    return new RefusedException(Problem.of(405), allow);
  }

  /** Value of the Allow header, null unless the method was wrong. */
  public String allow() {
    return allow;
  }
}
