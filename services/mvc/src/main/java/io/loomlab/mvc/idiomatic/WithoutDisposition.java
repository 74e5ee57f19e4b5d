package io.loomlab.mvc.idiomatic;

import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.http.HttpHeaders;

/**
 * Without the header that Spring MVC adds where a path ends in what might be a file's extension,
 * such as the decimals of {@code /httpbin/block/0.25}.
 */
class WithoutDisposition extends HttpServletResponseWrapper {
  WithoutDisposition(HttpServletResponse response) {
    super(response);
  }

  @Override
  public void addHeader(String name, String value) {
    if (!name.equalsIgnoreCase(HttpHeaders.CONTENT_DISPOSITION)) {
      super.addHeader(name, value);
    }
  }
}
