package io.loomlab.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MoviesTest {
  private static final String MOVIE =
      "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[{\"lastName\":\"Varda\"}],\"rating\":7}]";

  @ParameterizedTest
  @CsvSource({"Kubrick", "Allen", "Hitchcock"})
  void directorsOfThePublishedExperimentHaveMovies(String director) {
    var movies = JsonMapper.shared().readTree(new Movies(false).by(director));
    assertThat(movies.size()).isPositive();
    assertThat(movies.get(0).propertyNames())
        .containsExactly(
            "id",
            "title",
            "releaseYear",
            "genre",
            "actors",
            "directors",
            "writers",
            "awards",
            "rating");
  }

  @Test
  void unknownDirectorIsRefused() {
    assertRefused(404, () -> new Movies(false).requireKnown("Varda"));
  }

  @Test
  void savingStoresOnlyIfAskedTo() {
    Movies kept = new Movies(true);
    Movies dropped = new Movies(false);
    byte[] answer = kept.save(Movies.read(bytes(MOVIE)));
    assertThat(dropped.save(Movies.read(bytes(MOVIE)))).isEqualTo(answer);
    assertThat(kept.by("Varda")).isEqualTo(answer);
    assertRefused(404, () -> dropped.requireKnown("Varda"));
  }

  @Test
  void savingTheSameMovieTwiceStoresItOnce() {
    Movies movies = new Movies(true);
    movies.save(Movies.read(bytes(MOVIE)));
    movies.save(Movies.read(bytes(MOVIE)));
    assertThat(JsonMapper.shared().readTree(movies.by("Varda")).size()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "null",
        "[null]",
        "[\"Title\"]",
        "[{\"id\":\"x1\"",
        "[{\"id\":\"x1\",\"title\":\"Title\"}]",
        "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[]}]",
        "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[null]}]",
        MOVIE + "]"
      })
  void whatIsNoArrayOfCompleteMoviesIsRefused(String body) {
    assertRefused(400, () -> Movies.read(bytes(body)));
  }

  @Test
  void bodiesOfEveryPublishedVersionAreReadAndWrittenInOneShape() {
    byte[] later =
        bytes(
            """
            [{"title":"T","directors":[{"lastName":"Varda","birthday":null}],"other":1,"characters":
            [{"actor":{"lastName":"A","birthday":null},"name":"N"},{"actor":{"lastName":"B"},"role":"R"}]}]
            """);
    Movies kept = new Movies(true);
    JsonNode written = JsonMapper.shared().readTree(kept.save(Movies.read(later))).get(0);

    assertThat(written.get("id").isNull()).isTrue();
    assertThat(written.at("/actors/0/person/lastName").asString()).isEqualTo("A");
    assertThat(written.at("/actors/0/role").asString()).isEqualTo("N");
    assertThat(written.at("/actors/1/role").asString()).isEqualTo("R");
    assertThat(kept.by("Varda")).isEqualTo(kept.save(Movies.read(later)));
  }

  @Test
  void absentBodyIsRefused() {
    assertRefused(400, () -> Movies.read(null));
  }

  private static void assertRefused(
      int status, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().status()).isEqualTo(status));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
