package io.loomlab.spring.idiomatic;

import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Params;
import io.loomlab.core.metrics.RequestMetrics;
import io.loomlab.core.work.CpuWork;
import io.loomlab.core.work.Movie;
import io.loomlab.core.work.Movies;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What waits in the server, on a thread that sleeps. */
@RestController
public class WaitController {
  private final Movies movies;
  private final CpuWork cpu;
  private final RequestMetrics requests;

  /** The last monitor of /pinned: a compiler may remove one that never escapes its thread. */
  private volatile Object published;

  WaitController(Movies movies, CpuWork cpu, RequestMetrics requests) {
    this.movies = movies;
    this.cpu = cpu;
    this.requests = requests;
  }

  @GetMapping("/epoch-millis")
  long epochMillis(
      @RequestParam(defaultValue = "") Duration delayInMillis,
      @RequestParam(defaultValue = "") String cpuMicros)
      throws InterruptedException {
    requests.servedHere(Endpoint.EPOCH_MILLIS);
    int work = Params.cpuMicros(cpuMicros);
    Thread.sleep(delayInMillis);
    cpu.spend(work);
    return System.currentTimeMillis();
  }

  @GetMapping("/epoch-millis/{approach}")
  long epochMillisOf(
      @RequestParam(defaultValue = "") String delayMillis,
      @RequestParam(defaultValue = "") String delayInMillis,
      @RequestParam(defaultValue = "") String cpuMicros)
      throws InterruptedException {
    return epochMillis(Params.delay(delayMillis, delayInMillis), cpuMicros);
  }

  @GetMapping("/pinned")
  long pinned(@RequestParam(defaultValue = "") Duration delayInMillis) throws InterruptedException {
    requests.servedHere(Endpoint.PINNED);
    Object monitor = new Object();
    published = monitor;
    synchronized (monitor) {
      Thread.sleep(delayInMillis);
      return System.currentTimeMillis();
    }
  }

  @GetMapping("/movies")
  Collection<Movie> findMovies(
      @RequestParam(defaultValue = "") Duration delayInMillis,
      @RequestParam(defaultValue = "") String directorLastName)
      throws InterruptedException {
    requests.servedHere(Endpoint.MOVIES);
    String director = Params.director(directorLastName);
    movies.requireKnown(director);
    Thread.sleep(delayInMillis);
    return movies.of(director);
  }

  @PostMapping(path = "/movies", consumes = MediaType.APPLICATION_JSON_VALUE)
  List<Movie> saveMovies(
      @RequestParam(defaultValue = "") Duration delayInMillis, @RequestBody List<Movie> body)
      throws InterruptedException {
    requests.servedHere(Endpoint.SAVE_MOVIES);
    Movies.Batch batch = Movies.batch(body);
    Thread.sleep(delayInMillis);
    return movies.keep(batch);
  }
}
