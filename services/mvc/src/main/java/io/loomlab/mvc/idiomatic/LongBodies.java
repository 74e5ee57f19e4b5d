package io.loomlab.mvc.idiomatic;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.RefusedException;
import io.loomlab.core.http.RequestBody;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerExceptionResolver;

/** Reads a body before anybody judges the request, to refuse the one that is too long. */
@Component
class LongBodies extends OncePerRequestFilter {
  private final HandlerExceptionResolver problems;

  LongBodies(@Qualifier("handlerExceptionResolver") HandlerExceptionResolver problems) {
    this.problems = problems;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    return !request.getMethod().equals("POST")
        || !request.getRequestURI().equals(Endpoint.MOVIES_PATH);
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    byte[] body;
    try {
      body = RequestBody.read(request.getInputStream());
    } catch (RefusedException e) {
      problems.resolveException(request, response, null, e);
      return;
    }
    chain.doFilter(new WithBody(request, body), response);
  }

  private static final class WithBody extends HttpServletRequestWrapper {
    private final ServletInputStream body;

    WithBody(HttpServletRequest request, byte[] bytes) {
      super(request);
      body = new Read(new ByteArrayInputStream(bytes));
    }

    @Override
    public ServletInputStream getInputStream() {
      return body;
    }
  }

  private static final class Read extends ServletInputStream {
    private final ByteArrayInputStream bytes;

    Read(ByteArrayInputStream bytes) {
      this.bytes = bytes;
    }

    @Override
    public int read() {
      return bytes.read();
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      return bytes.read(into, offset, length);
    }

    @Override
    public boolean isFinished() {
      return bytes.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
      throw new UnsupportedOperationException("read it at once");
    }
  }
}
