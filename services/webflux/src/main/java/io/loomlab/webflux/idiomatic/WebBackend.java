package io.loomlab.webflux.idiomatic;

import io.loomlab.clients.ReactorClient;
import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.Settings;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientException;
import reactor.core.publisher.Mono;

@Component
class WebBackend {
  private final WebClient http;

  WebBackend(WebClient.Builder builder, ReactorClient client, Settings settings) {
    http =
        builder
            .baseUrl(settings.backendUrl().toString())
            .clientConnector(new ReactorClientHttpConnector(client.http()))
            .defaultStatusHandler(
                status -> !status.isSameCodeAs(HttpStatus.OK),
                response ->
                    Mono.just(
                        BackendException.unusable("The backend answered " + response.statusCode())))
            .build();
  }

  /** As {@link io.loomlab.spring.idiomatic.BackendCalls#get}, given later. */
  <T> Mono<T> get(Class<T> type, String uri, Object... variables) {
    return http.get()
        .uri(uri, variables)
        .retrieve()
        .bodyToMono(type)
        .switchIfEmpty(Mono.error(() -> BackendException.unusable("The backend answered nothing")))
        .onErrorMap(WebClientException.class, WebBackend::cause)
        .onErrorMap(ReactorClient::failure);
  }

  private static Throwable cause(WebClientException failure) {
    return failure.getCause() == null ? failure : failure.getCause();
  }
}
