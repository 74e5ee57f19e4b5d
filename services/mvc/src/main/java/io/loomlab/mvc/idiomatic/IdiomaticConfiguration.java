package io.loomlab.mvc.idiomatic;

import io.loomlab.clients.ApacheClient;
import io.loomlab.core.About;
import io.loomlab.core.CpuWork;
import io.loomlab.core.RequestMetrics;
import io.loomlab.core.Settings;
import io.loomlab.spring.LabApplication;
import io.loomlab.spring.LiveServer;
import io.loomlab.spring.idiomatic.BlockingConfiguration;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import java.util.function.Supplier;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of the idiomatic style on Spring MVC. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.IDIOMATIC)
@Import({BlockingConfiguration.class, RestBackend.class, LongBodies.class})
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

  @Bean
  Supplier<About> about(
      Settings settings,
      RequestMetrics requests,
      CpuWork cpu,
      LiveServer live,
      ApacheClient client) {
    return () -> About.of(settings, requests, cpu, live.about(), client.about());
  }
}
