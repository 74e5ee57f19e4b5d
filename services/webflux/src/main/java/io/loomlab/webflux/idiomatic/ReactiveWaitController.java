package io.loomlab.webflux.idiomatic;

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
import reactor.core.publisher.Mono;

/** What waits in the server, without a thread that sleeps. */
@RestController
class ReactiveWaitController {
  private final Movies movies;
  private final CpuWork cpu;
  private final RequestMetrics requests;

  ReactiveWaitController(Movies movies, CpuWork cpu, RequestMetrics requests) {
    this.movies = movies;
    this.cpu = cpu;
    this.requests = requests;
  }

  @GetMapping("/epoch-millis")
  Mono<Long> epochMillis(
      @RequestParam(defaultValue = "") Duration delayInMillis,
      @RequestParam(defaultValue = "") String cpuMicros) {
    requests.servedHere(Endpoint.EPOCH_MILLIS);
    return epochMillisAfter(delayInMillis, Params.cpuMicros(cpuMicros));
  }

  @GetMapping("/epoch-millis/{approach}")
  Mono<Long> epochMillisOf(
      @RequestParam(defaultValue = "") String delayMillis,
      @RequestParam(defaultValue = "") String delayInMillis,
      @RequestParam(defaultValue = "") String cpuMicros) {
    return epochMillis(Params.delay(delayMillis, delayInMillis), cpuMicros);
  }

  /** There is no thread that could hold a monitor while it waits. */
  @GetMapping("/pinned")
  Mono<Long> pinned(@RequestParam(defaultValue = "") Duration delayInMillis) {
    requests.servedHere(Endpoint.PINNED);
    return epochMillisAfter(delayInMillis, 0);
  }

  @GetMapping("/movies")
  Mono<Collection<Movie>> findMovies(
      @RequestParam(defaultValue = "") Duration delayInMillis,
      @RequestParam(defaultValue = "") String directorLastName) {
    requests.servedHere(Endpoint.MOVIES);
    String director = Params.director(directorLastName);
    movies.requireKnown(director);
    return Mono.delay(delayInMillis).map(tick -> movies.of(director));
  }

  @PostMapping(path = "/movies", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<List<Movie>> saveMovies(
      @RequestParam(defaultValue = "") Duration delayInMillis, @RequestBody List<Movie> body) {
    requests.servedHere(Endpoint.SAVE_MOVIES);
    Movies.Batch batch = Movies.batch(body);
    return Mono.delay(delayInMillis).map(tick -> movies.keep(batch));
  }

  private Mono<Long> epochMillisAfter(Duration wait, int cpuMicros) {
    return Mono.delay(wait)
        .map(
            tick -> {
              cpu.spend(cpuMicros);
              return System.currentTimeMillis();
            });
  }
}
