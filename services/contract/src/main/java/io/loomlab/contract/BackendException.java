package io.loomlab.contract;

/** The backend gave no usable answer. Carries no stack trace: it is an outcome, not a bug. */
public final class BackendException extends RuntimeException {
  private final int status;

  private BackendException(int status, Throwable cause) {
    super(cause.toString(), cause, false, false);
    this.status = status;
  }

  /** A time-out of any kind: no free connection, no connection, no answer. */
  public static BackendException timeout(Throwable cause) {
    return new BackendException(504, cause);
  }

  /** Refused, reset, unreadable, or an answer other than 200. */
  public static BackendException unusable(Throwable cause) {
    return new BackendException(502, cause);
  }

  /** HTTP status that the approach answers. */
  public int status() {
    return status;
  }
}
