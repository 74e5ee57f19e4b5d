package io.loomlab.core.work;

import io.loomlab.core.http.Answer;
import io.loomlab.core.http.Endpoint;
import io.loomlab.core.http.Endpoints;
import io.loomlab.core.http.ParsedRequest;
import io.loomlab.core.metrics.RequestMetrics;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

/** The endpoints for servers that run a request on a thread of its own, platform or virtual. */
public final class BlockingEndpoints implements Endpoints<Answer> {
  private final BlockingBackend backend;
  private final Movies movies;
  private final RequestMetrics requests;
  private final CpuWork cpu;
  private final FanOut fanOut;
  private final Function<ParsedRequest.OfDatabase, Answer> database;

  /** The last monitor of /pinned: a compiler may remove one that never escapes its thread. */
  private volatile Object published;

  public BlockingEndpoints(
      BlockingBackend backend, Movies movies, RequestMetrics requests, CpuWork cpu, FanOut fanOut) {
    this(backend, movies, requests, cpu, fanOut, null);
  }

  /**
   * @param database null without one: nothing is asked of it then
   */
  public BlockingEndpoints(
      BlockingBackend backend,
      Movies movies,
      RequestMetrics requests,
      CpuWork cpu,
      FanOut fanOut,
      Function<ParsedRequest.OfDatabase, Answer> database) {
    this.backend = backend;
    this.movies = movies;
    this.requests = requests;
    this.cpu = cpu;
    this.fanOut = fanOut;
    this.database = database;
  }

  @Override
  public Answer answer(Endpoint endpoint, Supplier<ParsedRequest> request) {
    long started = requests.start(endpoint);
    Answer answer = answer(request);
    requests.stop(endpoint, started, answer.status());
    return answer;
  }

  private Answer answer(Supplier<ParsedRequest> request) {
    try {
      return answer(request.get());
    } catch (RuntimeException | Error e) {
      return Answer.problem(e);
    }
  }

  private Answer answer(ParsedRequest request) {
    return switch (request) {
      case ParsedRequest.Capabilities asked -> Answer.text(capabilities(asked));
      case ParsedRequest.Meetings asked -> Answer.json(meetings(asked.authorization()));
      case ParsedRequest.EpochMillis asked -> epochMillisAfter(asked.delay(), asked.cpuMicros());
      case ParsedRequest.Pinned asked -> pinned(asked.delay());
      case ParsedRequest.FindMovies asked -> {
        movies.requireKnown(asked.director());
        sleep(asked.delay());
        yield Answer.json(movies.by(asked.director()));
      }
      case ParsedRequest.SaveMovies asked -> {
        sleep(asked.delay());
        yield Answer.json(movies.save(asked.movies()));
      }
      case ParsedRequest.Block asked ->
          Answer.text(backend.get(BackendPaths.delay(asked.seconds())));
      case ParsedRequest.OfDatabase asked -> database.apply(asked);
    };
  }

  private String capabilities(ParsedRequest.Capabilities asked) {
    String token = backend.get(BackendPaths.AUTHENTICATION);
    String role = backend.get(BackendPaths.authorization(token));
    String path = BackendPaths.capabilities(role);
    String text =
        asked.parallel()
            ? fanOut.last(asked.calls(), () -> backend.get(path))
            : lastInSuccession(asked.calls(), path);
    cpu.spend(asked.cpuMicros());
    return text;
  }

  private String lastInSuccession(int calls, String path) {
    for (int i = 1; i < calls; i++) {
      backend.get(path);
    }
    return backend.get(path);
  }

  private String meetings(String authorization) {
    String id = BackendPaths.userId(backend.get(BackendPaths.authenticate(authorization)));
    String authorities = backend.get(BackendPaths.authorize(id));
    return backend.get(BackendPaths.meetings(id, authorities));
  }

  private Answer pinned(Duration wait) {
    Object monitor = new Object();
    published = monitor;
    synchronized (monitor) {
      return epochMillisAfter(wait, 0);
    }
  }

  private Answer epochMillisAfter(Duration wait, int cpuMicros) {
    sleep(wait);
    cpu.spend(cpuMicros);
    return Answer.json(Long.toString(System.currentTimeMillis()));
  }

  private static void sleep(Duration wait) {
    try {
      Thread.sleep(wait);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", e);
    }
  }
}
