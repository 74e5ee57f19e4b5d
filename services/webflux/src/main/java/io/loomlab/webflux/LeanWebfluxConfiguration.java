package io.loomlab.webflux;

import io.loomlab.spring.LabApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.reactor.netty.autoconfigure.NettyReactiveWebServerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;

/** Beans of the lean style. */
@Configuration(proxyBeanMethods = false)
@Profile(LabApplication.LEAN)
@Import({AnswerResultHandler.class, ReactiveConfiguration.class, VirtualConfiguration.class})
@ImportAutoConfiguration({
  ErrorWebFluxAutoConfiguration.class,
  HttpHandlerAutoConfiguration.class,
  LifecycleAutoConfiguration.class,
  NettyReactiveWebServerAutoConfiguration.class,
  PropertyPlaceholderAutoConfiguration.class,
  WebFluxAutoConfiguration.class
})
class LeanWebfluxConfiguration {}
