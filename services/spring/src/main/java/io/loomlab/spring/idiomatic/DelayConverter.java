package io.loomlab.spring.idiomatic;

import io.loomlab.core.http.Params;
import java.time.Duration;
import org.springframework.core.convert.converter.Converter;
import org.springframework.stereotype.Component;

/** Reads {@code delayInMillis}. */
@Component
public class DelayConverter implements Converter<String, Duration> {
  @Override
  public Duration convert(String millis) {
    return Params.delay(millis);
  }
}
