package io.loomlab.webflux;

import io.loomlab.core.settings.Settings;
import io.netty.channel.ChannelOption;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

@Configuration(proxyBeanMethods = false)
class WebfluxConfiguration {
  /**
   * @param handlers of virtual-netty: Spring Boot's executor of virtual threads
   */
  @Bean
  LiveNetty liveNetty(ObjectProvider<SimpleAsyncTaskExecutor> handlers) {
    return new LiveNetty(handlers.getIfAvailable());
  }

  @Bean
  WebServerFactoryCustomizer<NettyReactiveWebServerFactory> netty(
      Settings settings, LiveNetty live) {
    return factory ->
        factory.addServerCustomizers(
            server ->
                live.watch(
                    server
                        .option(ChannelOption.SO_BACKLOG, settings.backlog())
                        .childOption(ChannelOption.TCP_NODELAY, true)
                        .idleTimeout(settings.keepAlive())
                        .mapHandle(ResponseHeaders::complete)));
  }
}
