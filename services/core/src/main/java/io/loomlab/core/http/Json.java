package io.loomlab.core.http;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.PropertyNamingStrategy;
import tools.jackson.databind.json.JsonMapper;

/** JSON of records, members in the order of declaration. */
public final class Json {
  private static final ObjectWriter SNAKE_CASE =
      mapper(PropertyNamingStrategies.SNAKE_CASE).writer();
  private static final JsonMapper PLAIN = mapper(null);
  private static final ObjectWriter WRITER = PLAIN.writer();

  private Json() {}

  /** Member names in snake case. */
  public static byte[] bytes(Object value) {
    return SNAKE_CASE.writeValueAsBytes(value);
  }

  /** Member names as in the record. */
  public static byte[] plainBytes(Object value) {
    return WRITER.writeValueAsBytes(value);
  }

  /** Unknown members are passed over. */
  public static ObjectReader reader(Class<?> type) {
    return PLAIN.readerFor(type);
  }

  private static JsonMapper mapper(PropertyNamingStrategy names) {
    return JsonMapper.builder()
        .propertyNamingStrategy(names)
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .build();
  }
}
