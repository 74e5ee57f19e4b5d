package io.loomlab.mvc.idiomatic;

import io.loomlab.clients.ApacheClient;
import io.loomlab.core.settings.Settings;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.idiomatic.IdiomaticBlockingConfiguration;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of the idiomatic style on Spring MVC. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.IDIOMATIC)
@EnableAutoConfiguration
@Import({IdiomaticBlockingConfiguration.class, RestBackend.class, LongBodies.class})
public class IdiomaticConfiguration {
  @Bean
  ApacheClient apacheClient(Settings settings) {
    return new ApacheClient(settings);
  }

  @Bean
  FilterRegistrationBean<Filter> withoutDisposition() {
    var registration =
        new FilterRegistrationBean<Filter>(
            (request, response, chain) ->
                chain.doFilter(request, new WithoutDisposition((HttpServletResponse) response)));
    registration.addUrlPatterns("/httpbin/block/*");
    return registration;
  }
}
