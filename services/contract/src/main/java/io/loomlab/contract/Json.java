package io.loomlab.contract;

import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** JSON of records, member names in snake case, declaration order. */
final class Json {
  private static final ObjectWriter WRITER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(tools.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .build()
          .writer();

  private Json() {}

  static byte[] bytes(Object value) {
    return WRITER.writeValueAsBytes(value);
  }
}
