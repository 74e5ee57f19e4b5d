package io.loomlab.netty;

import io.loomlab.clients.ReactorClient;
import io.loomlab.contract.Answer;
import io.loomlab.contract.BackendPaths;
import io.loomlab.contract.Endpoint;
import io.loomlab.contract.Movies;
import io.loomlab.contract.Params;
import io.loomlab.contract.RequestBody;
import java.time.Duration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import reactor.core.publisher.Mono;

/** The endpoints without a thread that waits. */
@Controller
class ReactiveController {
  private final ReactorClient backend;
  private final Movies movies;
  private final Measured measured;

  ReactiveController(ReactorClient backend, Movies movies, Measured measured) {
    this.backend = backend;
    this.movies = movies;
    this.measured = measured;
  }

  @GetMapping(Endpoint.CAPABILITIES_PATH)
  Mono<Answer> capabilities() {
    return measured.answer(
        Endpoint.CAPABILITIES,
        () ->
            backend
                .get(BackendPaths.AUTHENTICATION)
                .flatMap(token -> backend.get(BackendPaths.authorization(token)))
                .flatMap(role -> backend.get(BackendPaths.capabilities(role)))
                .map(Answer::text));
  }

  @GetMapping(Endpoint.MEETINGS_PATH)
  Mono<Answer> meetings(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false) String authorization) {
    return measured.answer(
        Endpoint.MEETINGS,
        () ->
            backend
                .get(BackendPaths.authenticate(Params.authorization(authorization)))
                .map(BackendPaths::userId)
                .flatMap(this::meetingsOf)
                .map(Answer::json));
  }

  @GetMapping(Endpoint.EPOCH_MILLIS_PATH)
  Mono<Answer> epochMillis(@RequestParam(name = Params.DELAY, required = false) String delay) {
    return measured.answer(Endpoint.EPOCH_MILLIS, () -> epochMillisAfter(delay));
  }

  @GetMapping(Endpoint.MOVIES_PATH)
  Mono<Answer> movies(
      @RequestParam(name = Params.DIRECTOR, required = false) String director,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    return measured.answer(
        Endpoint.MOVIES,
        () -> {
          Duration wait = Params.delay(delay);
          movies.requireKnown(Params.director(director));
          return Mono.delay(wait).map(tick -> Answer.json(movies.by(director)));
        });
  }

  @PostMapping(Endpoint.MOVIES_PATH)
  Mono<Answer> saveMovies(
      ServerHttpRequest request,
      @RequestHeader(name = HttpHeaders.CONTENT_TYPE, required = false) String contentType,
      @RequestParam(name = Params.DELAY, required = false) String delay) {
    return Body.of(request)
        .flatMap(
            body ->
                measured.answer(Endpoint.SAVE_MOVIES, () -> savedAfter(delay, contentType, body)));
  }

  @GetMapping(Endpoint.BLOCK_PATH)
  Mono<Answer> block(@PathVariable("seconds") String seconds) {
    return measured.answer(
        Endpoint.BLOCK,
        () -> backend.get(BackendPaths.delay(Params.seconds(seconds))).map(Answer::text));
  }

  @GetMapping(Endpoint.PINNED_PATH)
  Mono<Answer> pinned(@RequestParam(name = Params.DELAY, required = false) String delay) {
    return measured.answer(Endpoint.PINNED, () -> epochMillisAfter(delay));
  }

  private Mono<String> meetingsOf(String userId) {
    return backend
        .get(BackendPaths.authorize(userId))
        .flatMap(authorities -> backend.get(BackendPaths.meetings(userId, authorities)));
  }

  private Mono<Answer> savedAfter(String delay, String contentType, byte[] body) {
    RequestBody.requireJson(contentType);
    Duration wait = Params.delay(delay);
    Movies.Batch batch = Movies.read(body);
    return Mono.delay(wait).map(tick -> Answer.json(movies.save(batch)));
  }

  private static Mono<Answer> epochMillisAfter(String delay) {
    return Mono.delay(Params.delay(delay))
        .map(tick -> Answer.json(Long.toString(System.currentTimeMillis())));
  }
}
