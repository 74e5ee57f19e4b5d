package io.loomlab.contract;

import java.time.LocalDate;
import java.util.List;

/** A film, in the shape of the published experiment with movies. */
public record Movie(
    String id,
    String title,
    int releaseYear,
    String genre,
    List<Actor> actors,
    List<Person> directors,
    List<Person> writers,
    List<Award> awards,
    double rating) {

  public record Person(String firstName, String lastName, LocalDate birthday) {}

  public record Actor(Person person, String role) {}

  public record Award(String name, int year) {}
}
