package io.loomlab.core.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.loomlab.core.http.RefusedException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MoviesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[{\"lastName\":\"Varda\"}]}]",
        "[{\"title\":\"Title\",\"directors\":[{\"lastName\":\"Varda\"}]}]"
      })
  void savingTheSameMovieTwiceStoresItOnce(String body) {
    Movies movies = new Movies(true);
    movies.save(Movies.read(bytes(body)));
    byte[] saved = movies.save(Movies.read(bytes(body)));
    assertThat(movies.by("Varda")).isEqualTo(saved);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"id\":\"x1\",\"title\":\"Title\"}]",
        "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[]}]",
        "[{\"id\":\"x1\",\"title\":\"Title\",\"directors\":[null]}]"
      })
  void aMovieWithoutADirectorIsRefused(String body) {
    assertThatThrownBy(() -> Movies.read(bytes(body)))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refusal -> assertThat(refusal.problem().status()).isEqualTo(400));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
