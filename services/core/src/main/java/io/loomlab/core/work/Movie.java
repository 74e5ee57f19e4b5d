package io.loomlab.core.work;

import com.fasterxml.jackson.annotation.JsonAlias;
import java.time.LocalDate;
import java.util.List;

/**
 * A film, as loom-webflux-benchmarks published it. Its later versions send {@code characters}, with
 * {@code actor} and {@code name}, and no id.
 */
public record Movie(
    String id,
    String title,
    int releaseYear,
    String genre,
    @JsonAlias("characters") List<Actor> actors,
    List<Person> directors,
    List<Person> writers,
    List<Award> awards,
    double rating) {

  public record Person(String firstName, String lastName, LocalDate birthday) {}

  public record Actor(@JsonAlias("actor") Person person, @JsonAlias("name") String role) {}

  public record Award(String name, int year) {}
}
