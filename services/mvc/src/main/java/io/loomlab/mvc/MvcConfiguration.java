package io.loomlab.mvc;

import io.loomlab.mvc.idiomatic.IdiomaticConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Beans of every approach with Spring MVC. */
@Configuration(proxyBeanMethods = false)
@Import({LeanConfiguration.class, IdiomaticConfiguration.class})
public class MvcConfiguration {
  /** As {@code /about} names it. */
  public static final String FRAMEWORK = "spring-webmvc";
}
