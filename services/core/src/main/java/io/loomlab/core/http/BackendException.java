package io.loomlab.core.http;

/** The backend gave no usable answer. */
public final class BackendException extends ContractException {
  private BackendException(int status, String message, Throwable cause) {
    super(Problem.of(status), message, cause);
  }

  /** A time-out of any kind: no free connection, no connection, no answer. */
  public static BackendException timeout(Throwable cause) {
    return new BackendException(504, cause.toString(), cause);
  }

  /** Refused, reset or unreadable. */
  public static BackendException unusable(Throwable cause) {
    return new BackendException(502, cause.toString(), cause);
  }

  /** An answer that is not what was asked for. */
  public static BackendException unusable(String sentence) {
    return new BackendException(502, sentence, null);
  }
}
