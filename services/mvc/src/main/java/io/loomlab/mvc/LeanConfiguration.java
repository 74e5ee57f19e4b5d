package io.loomlab.mvc;

import io.loomlab.spring.BlockingConfiguration;
import io.loomlab.spring.LabApplication;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.web.filter.RequestContextFilter;
import org.springframework.web.method.support.HandlerMethodReturnValueHandler;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Beans of the lean style. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.LEAN)
@Import({BlockingConfiguration.class, SaveMoviesController.class, PlaceOrderController.class})
@ImportAutoConfiguration({
  DispatcherServletAutoConfiguration.class,
  ErrorMvcAutoConfiguration.class,
  HttpMessageConvertersAutoConfiguration.class,
  LifecycleAutoConfiguration.class,
  PropertyPlaceholderAutoConfiguration.class,
  WebMvcAutoConfiguration.class
})
class LeanConfiguration implements WebMvcConfigurer {
  private final ContentType contentType;

  /**
   * @param contentType for a server whose own way alters the text
   */
  LeanConfiguration(Optional<ContentType> contentType) {
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
