package io.loomlab.spring.idiomatic;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObservedRequestsTest {
  @ParameterizedTest
  @CsvSource({
    "GET, /epoch-millis/{approach}, 200, /epoch-millis, 200",
    "POST, /movies, 400, POST /movies, 400",
    "GET, /pinned, UNKNOWN, /pinned, 499"
  })
  void aRequestHasTheLabelsOfTheContract(
      String method, String uri, String told, String endpoint, String status) {
    Tags tags = Tags.of("approach", "x", "method", method, "uri", uri, "status", told);
    Meter.Id id = new Meter.Id("http.server.requests", tags, null, null, Meter.Type.TIMER);

    assertThat(new ObservedRequests().map(id).getTags())
        .containsExactlyElementsOf(
            Tags.of("approach", "x", "endpoint", endpoint, "status", status));
  }
}
