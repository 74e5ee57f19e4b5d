package io.loomlab.mvc;

import io.loomlab.core.http.Answer;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodReturnValueHandler;
import org.springframework.web.method.support.ModelAndViewContainer;

/** Writes the contract's answers as they are; a converter would negotiate and add headers. */
class AnswerReturnValueHandler implements HandlerMethodReturnValueHandler {
  private final ContentType contentType;

  AnswerReturnValueHandler(ContentType contentType) {
    this.contentType = contentType;
  }

  @Override
  public boolean supportsReturnType(MethodParameter returnType) {
    return returnType.getParameterType() == Answer.class;
  }

  @Override
  public void handleReturnValue(
      Object value, MethodParameter type, ModelAndViewContainer container, NativeWebRequest request)
      throws IOException {
    container.setRequestHandled(true);
    write((Answer) value, request.getNativeResponse(HttpServletResponse.class));
  }

  private void write(Answer answer, HttpServletResponse response) throws IOException {
    response.setStatus(answer.status());
    contentType.set(response, answer.contentType());
    response.setContentLength(answer.body().length);
    if (answer.allow() != null) {
      response.setHeader(HttpHeaders.ALLOW, answer.allow());
    }
    response.getOutputStream().write(answer.body());
  }
}
