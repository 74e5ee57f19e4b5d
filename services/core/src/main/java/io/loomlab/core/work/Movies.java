package io.loomlab.core.work;

import io.loomlab.core.http.Json;
import io.loomlab.core.http.RefusedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;

/** The movies by director, in memory. JSON is written again for each request. */
public final class Movies {
  private static final ObjectReader READER = Json.reader(Movie[].class);

  /** Movies that were read and found complete. */
  public record Batch(List<Movie> movies) {}

  private final ConcurrentMap<String, Map<String, Movie>> byDirector = new ConcurrentHashMap<>();
  private final boolean saves;

  /**
   * Eight films by three directors.
   *
   * @param saves whether {@link #save} stores
   */
  public Movies(boolean saves) {
    this.saves = saves;
    try (InputStream json = Movies.class.getResourceAsStream("movies.json")) {
      read(json.readAllBytes()).movies().forEach(this::store);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A request's body.
   *
   * @throws RefusedException 400 unless it is a JSON array of at least one complete movie
   */
  public static Batch read(byte[] json) {
    try {
      Movie[] movies = READER.readValue(json == null ? new byte[0] : json);
      return batch(movies == null ? List.of() : Arrays.asList(movies));
    } catch (JacksonException e) {
      throw unusable();
    }
  }

  /**
   * Movies of a body that was read as such.
   *
   * @throws RefusedException 400 unless there is one and all are complete
   */
  public static Batch batch(List<Movie> movies) {
    if (movies.isEmpty() || !movies.stream().allMatch(Movies::complete)) {
      throw unusable();
    }
    return new Batch(List.copyOf(movies));
  }

  /** 400, of a body that is no array of movies. */
  public static RefusedException unusable() {
    return RefusedException.of(400, "The body is not a JSON array of at least one movie.");
  }

  /**
   * Checks before the wait what would else be found after it.
   *
   * @throws RefusedException 404 if there are no movies by that director
   */
  public void requireKnown(String director) {
    if (!byDirector.containsKey(director)) {
      throw RefusedException.of(404, "There are no movies by this director.");
    }
  }

  /** Their movies as JSON. */
  public byte[] by(String director) {
    return Json.plainBytes(of(director));
  }

  /** Their movies. */
  public Collection<Movie> of(String director) {
    return byDirector.get(director).values();
  }

  /** As {@link #keep}, as JSON. */
  public byte[] save(Batch batch) {
    return Json.plainBytes(keep(batch));
  }

  /** Stores them if this repository saves; gives them either way. */
  public List<Movie> keep(Batch batch) {
    if (saves) {
      batch.movies().forEach(this::store);
    }
    return batch.movies();
  }

  private void store(Movie movie) {
    for (Movie.Person director : movie.directors()) {
      byDirector.merge(director.lastName(), Map.of(key(movie), movie), Movies::joined);
    }
  }

  private static String key(Movie movie) {
    return movie.id() == null ? movie.title() : movie.id();
  }

  private static Map<String, Movie> joined(Map<String, Movie> old, Map<String, Movie> added) {
    Map<String, Movie> all = new LinkedHashMap<>(old);
    all.putAll(added);
    return all;
  }

  private static boolean complete(Movie movie) {
    return movie != null
        && movie.title() != null
        && movie.directors() != null
        && !movie.directors().isEmpty()
        && movie.directors().stream().allMatch(each -> each != null && each.lastName() != null);
  }
}
