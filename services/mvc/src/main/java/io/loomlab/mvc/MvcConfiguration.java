package io.loomlab.mvc;

import io.loomlab.spring.BlockingConfiguration;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.filter.RequestContextFilter;
import org.springframework.web.method.support.HandlerMethodReturnValueHandler;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Beans of every approach with Spring MVC. */
@Configuration(proxyBeanMethods = false)
@Import({BlockingConfiguration.class, SaveMoviesController.class})
public class MvcConfiguration implements WebMvcConfigurer {
  /** As {@code /about} names it. */
  public static final String FRAMEWORK = "spring-webmvc";

  private final ContentType contentType;

  /**
   * @param contentType for a server whose own way alters the text
   */
  MvcConfiguration(Optional<ContentType> contentType) {
    this.contentType = contentType.orElse(HttpServletResponse::setContentType);
  }

  @Override
  public void addReturnValueHandlers(List<HandlerMethodReturnValueHandler> handlers) {
    handlers.add(new AnswerReturnValueHandler(contentType));
  }

  /** Registered as disabled: the dispatcher servlet does the same, WebFlux has none. */
  @Bean
  FilterRegistrationBean<RequestContextFilter> noRequestContextFilter() {
    var registration = new FilterRegistrationBean<>(new RequestContextFilter());
    registration.setEnabled(false);
    return registration;
  }
}
