package io.loomlab.core.http;

/** The database gave no usable answer. */
public final class DatabaseException extends ContractException {
  private DatabaseException(int status, String detail, Throwable cause) {
    super(Problem.of(status).because(detail), cause.toString(), cause);
  }

  /**
   * No connection to it, for whatever reason: of several callers that wait for one, HikariCP tells
   * only the first why there is none.
   */
  public static DatabaseException unreachable(Throwable cause) {
    return new DatabaseException(503, "There is no connection to the database.", cause);
  }

  /** Its answer did not come in time. */
  public static DatabaseException timeout(Throwable cause) {
    return new DatabaseException(504, "The database gave no answer in time.", cause);
  }

  /** It refused a statement, or the connection broke. */
  public static DatabaseException unusable(Throwable cause) {
    return new DatabaseException(502, "The database gave no usable answer.", cause);
  }

  /** The transaction collided with others, as often as it was tried. */
  public static DatabaseException collided(Throwable cause) {
    return new DatabaseException(
        409, "The order collided with others each time it was tried.", cause);
  }
}
