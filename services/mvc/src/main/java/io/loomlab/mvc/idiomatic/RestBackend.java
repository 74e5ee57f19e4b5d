package io.loomlab.mvc.idiomatic;

import io.loomlab.clients.ApacheClient;
import io.loomlab.core.http.BackendException;
import io.loomlab.core.settings.Settings;
import io.loomlab.spring.idiomatic.BackendCalls;
import java.io.InterruptedIOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;

@Component
class RestBackend implements BackendCalls {
  private final RestClient http;

  RestBackend(RestClient.Builder builder, ApacheClient client, Settings settings) {
    http =
        builder
            .baseUrl(settings.backendUrl())
            .requestFactory(new HttpComponentsClientHttpRequestFactory(client.http()))
            .defaultStatusHandler(
                status -> !status.isSameCodeAs(HttpStatus.OK),
                (request, response) -> {
                  throw BackendException.unusable(
                      "The backend answered " + response.getStatusCode());
                })
            .build();
  }

  @Override
  public <T> T get(Class<T> type, String uri, Object... variables) {
    T body;
    try {
      body = http.get().uri(uri, variables).retrieve().body(type);
    } catch (RestClientException e) {
      throw e.contains(InterruptedIOException.class)
          ? BackendException.timeout(e)
          : BackendException.unusable(e);
    }
    if (body == null) {
      throw BackendException.unusable("The backend answered nothing");
    }
    return body;
  }
}
