package io.loomlab.mvc;

import jakarta.servlet.http.HttpServletResponse;

/** Sets the Content-Type header to exactly the given text. */
@FunctionalInterface
public interface ContentType {
  void set(HttpServletResponse response, String text);
}
