package io.loomlab.core.http;

/** Body of every answer that is not a success: RFC 9457, the same bytes from every approach. */
public record Problem(String type, String title, int status, String detail) {
  public static final String CONTENT_TYPE = "application/problem+json";

  /** The problem of an HTTP status; a status without a text of its own becomes 400 or 500. */
  public static Problem of(int status) {
    return switch (status) {
      case 401 ->
          problem(status, "Unauthorized", "The Authorization header is missing; send any value.");
      case 403 -> problem(status, "Forbidden", "The backend does not grant get-meetings.");
      case 404 -> problem(status, "Not Found", "There is nothing at this path.");
      case 405 -> problem(status, "Method Not Allowed", "This path does not take this method.");
      case 409 -> problem(status, "Conflict", "The request collided with others.");
      case 413 ->
          problem(
              status,
              "Content Too Large",
              "The body is longer than %d bytes.".formatted(RequestBody.LONGEST_BYTES));
      case 415 ->
          problem(status, "Unsupported Media Type", "The body is not declared application/json.");
      case 502 -> problem(status, "Bad Gateway", "The backend gave no usable answer.");
      case 503 -> problem(status, "Service Unavailable", "The server cannot do it now.");
      case 504 -> problem(status, "Gateway Timeout", "The backend gave no answer in time.");
      default ->
          status < 500
              ? problem(400, "Bad Request", "The request cannot be understood.")
              : problem(500, "Internal Server Error", "The server failed.");
    };
  }

  public byte[] bytes() {
    return Json.bytes(this);
  }

  Problem because(String cause) {
    return new Problem(type, title, status, cause);
  }

  private static Problem problem(int status, String title, String detail) {
    return new Problem("about:blank", title, status, detail);
  }
}
