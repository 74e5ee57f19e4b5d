package io.loomlab.netty;

import io.loomlab.contract.About;
import io.loomlab.contract.RequestMetrics;
import io.loomlab.contract.Settings;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.ChannelOption;
import java.util.function.Supplier;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.scheduler.NonBlocking;

@Configuration(proxyBeanMethods = false)
class NettyConfiguration {
  @Bean
  LiveNetty liveNetty() {
    return new LiveNetty();
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

  @Bean
  RequestMetrics requestMetrics(MeterRegistry registry, LiveNetty live) {
    return new RequestMetrics(
        registry, live::openConnections, thread -> thread instanceof NonBlocking);
  }

  @Bean
  Supplier<About> about(
      Settings settings, RequestMetrics requests, LiveNetty live, BackendClient client) {
    return () -> About.of(settings, requests, live.about(), client.about());
  }
}
